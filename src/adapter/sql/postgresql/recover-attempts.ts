import type { Recovery } from '../../../core/store.ts';
import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import { sql, type Statement } from '../statement.ts';
import { ownedAttempts } from './owned-attempts.ts';
import { mayBeParent } from './may-be-parent.ts';

/** Ends attempts whose owner is gone and decides their jobs in the same statement: nobody sees "interrupted, about to be queued". */
export function recoverAttempts(
  t: Tables,
  attempts: readonly AttemptKeyRow[],
  { requeue, reason }: Recovery,
  now: Micros,
): Statement {
  return sql`
    with ${ownedAttempts(t, attempts)},
    decided as materialized (
      select *, case
        when cancel_requested_at is not null then 'cancelled'
        when (${requeue} = 'always' or (${requeue} = 'declared' and on_interrupt = 'requeue')) and attempt_count < attempt_limit
          then 'queued'
        else 'interrupted'
      end as new_state
      from owned
    ),
    jobs as (
      update ${t.job} j
      set state = d.new_state,
          attempt_token = null, executor_id = null,
          next_run_at = case when d.new_state = 'queued' then ${now}::bigint else j.next_run_at end,
          failure_reason = case when d.new_state = 'cancelled' then 'cancel_requested' else ${reason} end,
          finished_at = case when d.new_state <> 'queued' then ${now}::bigint end,
          unique_hash = case when d.new_state = 'queued' then j.unique_hash end,
          revision = j.revision + 1
      from decided d
      where j.scope_hash = d.scope_hash and j.id = d.id and j.attempt_token = d.token
    ),
    attempts as (
      update ${t.attempt} a
      set state = case when d.new_state = 'cancelled' then 'cancelled' else 'interrupted' end,
          failure_reason = case when d.new_state = 'cancelled' then 'cancel_requested' else ${reason} end,
          ended_at = ${now}
      from decided d
      where a.scope_hash = d.scope_hash and a.job_id = d.id and a.ordinal = d.ordinal and a.token = d.token
    )
    select scope_hash, id, ordinal, token, new_state as state,
           ${mayBeParent(t, { scopeHash: 'ended.scope_hash', id: 'ended.id', revision: 'ended.revision' })} as is_parent
    from decided as ended
  `;
}
