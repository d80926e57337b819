import type { AttemptRef } from '../../../core/attempt.ts';
import { attemptKey } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import { sql, values, type Statement } from '../statement.ts';

/**
 * What is known of attempts, by key and token: how the attempt ended (no state: its row is gone), whether it still owns the
 * job, and the job's cancel mark. Reads no payload.
 */
export function attemptFates(t: Tables, attempts: readonly AttemptRef[]): Statement {
  const rows = attempts.map(attemptKey).map(({ scope_hash, id, ordinal, token }) => [scope_hash, id, ordinal, token]);

  return sql`
    with asked(scope_hash, id, ordinal, token) as (${values(rows)})
    select asked.scope_hash, asked.id, asked.ordinal, asked.token,
           a.state as attempt_state, a.failure_reason, a.error, a.result_ref,
           j.state as job_state, j.attempt_count, j.attempt_token as owner, j.cancel_requested_at, j.failure_reason as job_reason
    from asked
    left join ${t.job} j on j.scope_hash = asked.scope_hash and j.id = asked.id
    left join ${t.attempt} a on a.scope_hash = asked.scope_hash and a.job_id = asked.id and a.ordinal = asked.ordinal
      and a.token = asked.token
  `;
}
