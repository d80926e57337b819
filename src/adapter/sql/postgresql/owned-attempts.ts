import type { Tables } from '../../tables.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import { sql, type Statement } from '../statement.ts';

/**
 * The first steps of a statement that ends attempts: `owned` is what still owns its job and has its row, both locked in key
 * order. What follows reads the mark from it.
 */
export function ownedAttempts(t: Tables, attempts: readonly AttemptKeyRow[]): Statement {
  return sql`
    asked as materialized (
      select * from json_to_recordset(${JSON.stringify(attempts)}::json) as o(scope_hash varchar, id varchar, ordinal integer, token varchar)
      limit ${attempts.length}
    ),
    owned as materialized (
      select asked.*, j.cancel_requested_at, j.on_interrupt, j.attempt_count, j.attempt_limit, j.revision
      from asked
      join ${t.job} j on j.scope_hash = asked.scope_hash and j.id = asked.id and j.state = 'running' and j.attempt_token = asked.token
      join ${t.attempt} a on a.scope_hash = asked.scope_hash and a.job_id = asked.id and a.ordinal = asked.ordinal
        and a.token = asked.token and a.state = 'running'
      order by j.scope_hash, j.id
      for update of j, a
    )
  `;
}
