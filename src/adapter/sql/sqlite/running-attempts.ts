import type { Tables } from '../../tables.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import { sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/** Those of the attempts whose rows say that they run. MikroORM 6 gives no rows of a `delete … returning`. */
export function runningAttempts(t: Tables, attempts: readonly AttemptKeyRow[]): Statement {
  return sql`
    select a.scope_hash, a.job_id as id, a.ordinal, a.token
    from ${jsonRows(attempts, ['scope_hash', 'id', 'ordinal', 'token'])} as o
    join ${t.attempt} a on a.scope_hash = o.scope_hash and a.job_id = o.id and a.ordinal = o.ordinal and a.token = o.token
      and a.state = 'running'
  `;
}
