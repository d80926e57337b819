import type { Tables } from '../../tables.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import { sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/** The attempts whose starts this transaction has just undone. */
export function deleteAttempts(t: Tables, attempts: readonly AttemptKeyRow[]): Statement {
  return sql`
    delete from ${t.attempt}
    where (scope_hash, job_id, ordinal, token) in (
      select o.scope_hash, o.id, o.ordinal, o.token from ${jsonRows(attempts, ['scope_hash', 'id', 'ordinal', 'token'])} as o
    )
      and state = 'running'
  `;
}
