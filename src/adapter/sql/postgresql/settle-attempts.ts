import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import type { SettlementRow } from '../dialect.ts';
import { isParent } from '../shared/is-parent.ts';
import { prepared, sql, type Statement } from '../statement.ts';

/**
 * Settles a group. The jobs are locked first, in key order (unordered groups deadlocked 320 times in 300 rounds), and the cancel
 * mark is read from the locked row, so a cancel that was committed first is seen. Then the attempts end, and with them their
 * jobs: a job whose attempt row is gone is not touched. Says which of the ended may be somebody's parents.
 *
 * A job is written where it was locked, without another search; but that place is not in the statement's snapshot when somebody wrote to
 * the job while the statement waited for its lock. It is then written by its key, and may be a parent: whoever commits a child touches
 * what it waits for (`touchParents`).
 *
 * Only a running job has a token. Asked for the state as well, the planner would read all that runs, and ran, instead of the keys.
 * The limit is the planner's too: without it, it expects a hundred rows and reads a table of some ten thousand jobs whole.
 */
export function settleAttempts(t: Tables, settlements: readonly SettlementRow[], now: Micros): Statement {
  const ended = endedBy(now);

  return prepared(sql`
    with decided as materialized (
      select o.*, j.ctid as place, case
        when j.cancel_requested_at is not null then 'cancelled'
        when o.outcome in ('rescheduled', 'snoozed') then 'queued'
        else o.outcome
      end as new_state
      from (
        select * from json_to_recordset(${JSON.stringify(settlements)}::json) as x(
          scope_hash varchar, id varchar, ordinal integer, token varchar, outcome varchar, new_progress integer,
          new_message text, new_result_ref text, new_reason varchar, new_error text, new_next_run_at bigint
        )
        limit ${settlements.length}
      ) as o
      join ${t.job} j on j.scope_hash = o.scope_hash and j.id = o.id and j.attempt_token = o.token
      order by j.scope_hash, j.id
      for update of j
    ),
    attempts as (
      update ${t.attempt} a
      set state = case when d.new_state = 'cancelled' then 'cancelled' when d.outcome = 'rescheduled' then 'failed' else d.outcome end,
          progress = greatest(a.progress, coalesce(d.new_progress, 0)),
          progress_message = coalesce(d.new_message, a.progress_message),
          failure_reason = case when d.new_state = 'cancelled' then 'cancel_requested' else d.new_reason end,
          error = d.new_error,
          result_ref = case when d.new_state = 'succeeded' then d.new_result_ref end,
          ended_at = ${now}
      from decided d
      where a.scope_hash = d.scope_hash and a.job_id = d.id and a.ordinal = d.ordinal and a.token = d.token and a.state = 'running'
      returning d.*
    ),
    unchanged as (
      update ${t.job} j set ${ended} from attempts d where j.ctid = d.place returning d.token
    ),
    changed as (
      update ${t.job} j set ${ended} from attempts d
      where j.scope_hash = d.scope_hash and j.id = d.id and j.attempt_token = d.token
        and d.token not in (select token from unchanged)
      returning d.token
    )
    select scope_hash, id, ordinal, token, new_state as state,
           ${isParent(t, { scopeHash: 'ended.scope_hash', id: 'ended.id' })} or token in (select token from changed) as is_parent
    from attempts ended
  `);
}

function endedBy(now: Micros): Statement {
  return sql`
    state = d.new_state,
    attempt_token = null, executor_id = null,
    attempt_limit = j.attempt_limit + case when d.outcome = 'snoozed' and d.new_state = 'queued' then 1 else 0 end,
    failure_count = j.failure_count
      + case when d.outcome in ('failed', 'rescheduled') and d.new_state <> 'cancelled' then 1 else 0 end,
    next_run_at = case when d.new_state = 'queued' then d.new_next_run_at else j.next_run_at end,
    progress = greatest(j.progress, coalesce(d.new_progress, 0)),
    progress_message = coalesce(d.new_message, j.progress_message),
    result_ref = case when d.new_state = 'succeeded' then d.new_result_ref end,
    failure_reason = case when d.new_state = 'cancelled' then 'cancel_requested' else d.new_reason end,
    last_error = coalesce(d.new_error, j.last_error),
    finished_at = case when d.new_state <> 'queued' then ${now}::bigint end,
    unique_hash = case when d.new_state = 'queued' then j.unique_hash end,
    revision = j.revision + 1
  `;
}
