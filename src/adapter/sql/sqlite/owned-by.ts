import type { Tables } from '../../tables.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import { sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/** The end of an update of jobs: those that the attempts still own and whose attempt rows are there. */
export function ownedBy(t: Tables, attempts: readonly AttemptKeyRow[]): Statement {
  return sql`
    from (
      select r.scope_hash as o_scope_hash, r.id as o_id, r.ordinal as o_ordinal, r.token as o_token
      from ${jsonRows(attempts, ['scope_hash', 'id', 'ordinal', 'token'])} as r
    ) as o
    where scope_hash = o.o_scope_hash and id = o.o_id and state = 'running' and attempt_token = o.o_token
      and exists (
        select 1 from ${t.attempt} a
        where a.scope_hash = o.o_scope_hash and a.job_id = o.o_id and a.ordinal = o.o_ordinal and a.token = o.o_token
          and a.state = 'running'
      )
  `;
}
