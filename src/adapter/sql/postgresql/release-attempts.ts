import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import { sql, type Statement } from '../statement.ts';
import { ownedAttempts } from './owned-attempts.ts';
import { mayBeParent } from './may-be-parent.ts';

/** Undoes claims. A mark is looked at here too: a released job that keeps one would be queued for nobody. */
export function releaseAttempts(t: Tables, attempts: readonly AttemptKeyRow[], now: Micros): Statement {
  return sql`
    with ${ownedAttempts(t, attempts)},
    decided as materialized (
      select *, case when cancel_requested_at is null then 'queued' else 'cancelled' end as new_state from owned
    ),
    jobs as (
      update ${t.job} j
      set state = d.new_state,
          attempt_token = null, executor_id = null,
          attempt_count = j.attempt_count - case when d.new_state = 'queued' then 1 else 0 end,
          progress = 0, progress_message = null,
          failure_reason = case when d.new_state = 'cancelled' then 'cancel_requested' else j.failure_reason end,
          finished_at = case when d.new_state = 'cancelled' then ${now}::bigint end,
          unique_hash = case when d.new_state = 'queued' then j.unique_hash end,
          revision = j.revision + 1
      from decided d
      where j.scope_hash = d.scope_hash and j.id = d.id and j.attempt_token = d.token
    ),
    undone as (
      delete from ${t.attempt} a using decided d
      where d.new_state = 'queued'
        and a.scope_hash = d.scope_hash and a.job_id = d.id and a.ordinal = d.ordinal and a.token = d.token
    ),
    ended as (
      update ${t.attempt} a
      set state = 'cancelled', failure_reason = 'cancel_requested', ended_at = ${now}
      from decided d
      where d.new_state = 'cancelled'
        and a.scope_hash = d.scope_hash and a.job_id = d.id and a.ordinal = d.ordinal and a.token = d.token
    )
    select scope_hash, id, ordinal, token, new_state as state,
           ${mayBeParent(t, { scopeHash: 'ended.scope_hash', id: 'ended.id', revision: 'ended.revision' })} as is_parent
    from decided as ended
  `;
}
