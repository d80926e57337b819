import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import { sql, type Statement } from '../statement.ts';
import { ownedBy } from './owned-by.ts';

/** Release, first statement: undoes claims. A mark is looked at here too: a released job that keeps one would be queued for nobody. */
export function releaseJobs(t: Tables, attempts: readonly AttemptKeyRow[], now: Micros): Statement {
  return sql`
    update ${t.job}
    set state = case when cancel_requested_at is null then 'queued' else 'cancelled' end,
        attempt_token = null, executor_id = null,
        attempt_count = attempt_count - (cancel_requested_at is null),
        progress = 0, progress_message = null,
        failure_reason = case when cancel_requested_at is null then failure_reason else 'cancel_requested' end,
        finished_at = case when cancel_requested_at is null then null else ${now} end,
        unique_hash = case when cancel_requested_at is null then unique_hash end,
        revision = revision + 1
    ${ownedBy(t, attempts)}
    returning scope_hash, id, state
  `;
}
