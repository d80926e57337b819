import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';

/** A parent that has failed, was cancelled or is gone, if there is one: the job can't be retried for it. */
export function deadParents(t: Tables, scopeHash: string, id: string): Statement {
  return sql`
    select d.parent_id
    from ${t.dependency} d left join ${t.job} p on p.scope_hash = d.scope_hash and p.id = d.parent_id
    where d.scope_hash = ${scopeHash} and d.job_id = ${id} and coalesce(p.state, 'cancelled') in ('failed', 'cancelled')
    limit 1
  `;
}

/** Queues a finished job again, or lets it wait for its parents again; the budget and the old attempts stay, what the last run left on the job is cleared. */
export function retryJob(t: Tables, scopeHash: string, id: string, at: Micros): Statement {
  return sql`
    update ${t.job}
    set state = case when exists (
          select 1
          from ${t.dependency} d left join ${t.job} p on p.scope_hash = d.scope_hash and p.id = d.parent_id
          where d.scope_hash = ${scopeHash} and d.job_id = ${id} and coalesce(p.state, '') <> 'succeeded'
        ) then 'awaiting' else 'queued' end,
        next_run_at = ${at},
        progress = 0, progress_message = null,
        last_error = null, failure_reason = null,
        cancel_requested_at = null, cancel_reason = null,
        result_ref = null, finished_at = null,
        revision = revision + 1
    where scope_hash = ${scopeHash} and id = ${id}
      and state in ('failed', 'cancelled', 'interrupted') and attempt_count < attempt_limit
      and not exists (
        select 1
        from ${t.dependency} d left join ${t.job} p on p.scope_hash = d.scope_hash and p.id = d.parent_id
        where d.scope_hash = ${scopeHash} and d.job_id = ${id} and coalesce(p.state, 'cancelled') in ('failed', 'cancelled')
      )
    returning state
  `;
}
