import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import type { SettlementRow } from '../dialect.ts';
import { prepared, sql, type Statement } from '../statement.ts';
import { mayBeParent } from './may-be-parent.ts';

/**
 * Settles one attempt, as `settleAttempts` does a group: there is no order to lock in, so the job's own update reads the mark, and
 * a third is left to plan. That counts where every job settles in its handler's transaction.
 */
export function settleAttempt(t: Tables, settlement: SettlementRow, now: Micros): Statement {
  const { scope_hash: scopeHash, id, ordinal, token, outcome } = settlement;
  const isFailure = outcome === 'failed' || outcome === 'rescheduled';
  const isQueued = outcome === 'rescheduled' || outcome === 'snoozed';

  return prepared(sql`
    with ended as (
      update ${t.job} j
      set state = case when j.cancel_requested_at is null then ${isQueued ? 'queued' : outcome} else 'cancelled' end,
          attempt_token = null, executor_id = null,
          attempt_limit = j.attempt_limit + case when j.cancel_requested_at is null then ${Number(outcome === 'snoozed')} else 0 end,
          failure_count = j.failure_count + case when j.cancel_requested_at is null then ${Number(isFailure)} else 0 end,
          next_run_at = case when j.cancel_requested_at is null
            then coalesce(${settlement.new_next_run_at ?? null}::bigint, j.next_run_at) else j.next_run_at end,
          progress = greatest(j.progress, ${settlement.new_progress ?? 0}),
          progress_message = coalesce(${settlement.new_message ?? null}, j.progress_message),
          result_ref = case when j.cancel_requested_at is null then ${settlement.new_result_ref ?? null} end,
          failure_reason = case when j.cancel_requested_at is null then ${settlement.new_reason ?? null} else 'cancel_requested' end,
          last_error = coalesce(${settlement.new_error ?? null}, j.last_error),
          finished_at = case when j.cancel_requested_at is null and ${isQueued} then null else ${now}::bigint end,
          unique_hash = case when j.cancel_requested_at is null and ${isQueued} then j.unique_hash end,
          revision = j.revision + 1
      where j.scope_hash = ${scopeHash} and j.id = ${id} and j.attempt_token = ${token}
        and exists (
          select 1 from ${t.attempt} a
          where a.scope_hash = ${scopeHash} and a.job_id = ${id} and a.ordinal = ${ordinal} and a.token = ${token}
            and a.state = 'running'
        )
      returning j.scope_hash, j.id, j.state, j.revision
    )
    update ${t.attempt} a
    set state = case when ended.state = 'cancelled' then 'cancelled' else ${outcome === 'rescheduled' ? 'failed' : outcome} end,
        progress = greatest(a.progress, ${settlement.new_progress ?? 0}),
        progress_message = coalesce(${settlement.new_message ?? null}, a.progress_message),
        failure_reason = case when ended.state = 'cancelled' then 'cancel_requested' else ${settlement.new_reason ?? null} end,
        error = ${settlement.new_error ?? null},
        result_ref = case when ended.state = 'cancelled' then null else ${settlement.new_result_ref ?? null} end,
        ended_at = ${now}
    from ended
    where a.scope_hash = ${scopeHash} and a.job_id = ${id} and a.ordinal = ${ordinal} and a.token = ${token}
    returning ended.scope_hash, ended.id, a.ordinal, a.token, ended.state,
              ${mayBeParent(t, { scopeHash: 'ended.scope_hash', id: 'ended.id', revision: 'ended.revision - 1' })} as is_parent
  `);
}
