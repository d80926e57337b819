import type { Recovery } from '../../../core/store.ts';
import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import { sql, type Statement } from '../statement.ts';
import { ownedBy } from './owned-by.ts';

/** Recover, first statement: decides the jobs at once: nobody sees "interrupted, about to be queued". */
export function recoverJobs(
  t: Tables,
  attempts: readonly AttemptKeyRow[],
  { requeue, reason }: Recovery,
  now: Micros,
): Statement {
  const mayRunAgain = sql`(${requeue} = 'always' or (${requeue} = 'declared' and on_interrupt = 'requeue')) and attempt_count < attempt_limit`;

  return sql`
    update ${t.job}
    set state = case
          when cancel_requested_at is not null then 'cancelled'
          when ${mayRunAgain} then 'queued'
          else 'interrupted'
        end,
        attempt_token = null, executor_id = null,
        next_run_at = case when cancel_requested_at is null and ${mayRunAgain} then ${now} else next_run_at end,
        failure_reason = case when cancel_requested_at is null then ${reason} else 'cancel_requested' end,
        finished_at = case when cancel_requested_at is null and ${mayRunAgain} then null else ${now} end,
        unique_hash = case when cancel_requested_at is null and ${mayRunAgain} then unique_hash end,
        revision = revision + 1
    ${ownedBy(t, attempts)}
    returning scope_hash, id, state
  `;
}
