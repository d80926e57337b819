import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import type { SettlementRow } from '../dialect.ts';
import { prepared, sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/**
 * Settle, first statement: the jobs. Token and attempt row are in the condition, the cancel mark is read by the same write.
 * Answers the states that were reached; the attempts follow in the same transaction.
 */
export function settleJobs(t: Tables, settlements: readonly SettlementRow[], now: Micros): Statement {
  return prepared(sql`
    update ${t.job}
    set state = case
          when cancel_requested_at is not null then 'cancelled'
          when o.outcome in ('rescheduled', 'snoozed') then 'queued'
          else o.outcome
        end,
        attempt_token = null, executor_id = null,
        attempt_limit = attempt_limit + (o.outcome = 'snoozed' and cancel_requested_at is null),
        failure_count = failure_count + (o.outcome in ('failed', 'rescheduled') and cancel_requested_at is null),
        next_run_at = case when o.is_queued and cancel_requested_at is null then o.new_next_run_at else next_run_at end,
        progress = max(progress, coalesce(o.new_progress, 0)),
        progress_message = coalesce(o.new_message, progress_message),
        result_ref = case when o.outcome = 'succeeded' and cancel_requested_at is null then o.new_result_ref end,
        failure_reason = case when cancel_requested_at is null then o.new_reason else 'cancel_requested' end,
        last_error = coalesce(o.new_error, last_error),
        finished_at = case when o.is_queued and cancel_requested_at is null then null else ${now} end,
        unique_hash = case when o.is_queued and cancel_requested_at is null then unique_hash end,
        revision = revision + 1
    from (
      select r.scope_hash as o_scope_hash, r.id as o_id, r.ordinal as o_ordinal, r.token as o_token, r.outcome,
             r.outcome in ('rescheduled', 'snoozed') as is_queued,
             r.new_progress, r.new_message, r.new_result_ref, r.new_reason, r.new_error, r.new_next_run_at
      from ${jsonRows(settlements, [
        'scope_hash',
        'id',
        'ordinal',
        'token',
        'outcome',
        'new_progress',
        'new_message',
        'new_result_ref',
        'new_reason',
        'new_error',
        'new_next_run_at',
      ])} as r
    ) as o
    where scope_hash = o.o_scope_hash and id = o.o_id and state = 'running' and attempt_token = o.o_token
      and exists (
        select 1 from ${t.attempt} a
        where a.scope_hash = o.o_scope_hash and a.job_id = o.o_id and a.ordinal = o.o_ordinal and a.token = o.o_token
          and a.state = 'running'
      )
    returning scope_hash, id, state
  `);
}
