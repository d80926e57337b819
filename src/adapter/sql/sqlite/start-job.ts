import { attemptColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import type { Start } from '../dialect.ts';
import { sql, type Statement } from '../statement.ts';

/** Starts one job by its key: state, due time, budget and queue are judged by the update itself, so of many starters one wins. */
export function startJob(t: Tables, { scopeHash, id, executorId, token, now, lockedQueue }: Start): Statement {
  return sql`
    update ${t.job}
    set state = 'running', attempt_token = ${token}, executor_id = ${executorId}, attempt_count = attempt_count + 1,
        progress = 0, progress_message = null, revision = revision + 1
    where scope_hash = ${scopeHash} and id = ${id} and state = 'queued' and cancel_requested_at is null
      and next_run_at <= ${now} and attempt_count < attempt_limit
      and not exists (
        select 1 from ${t.queue} q
        where q.name = queue and (q.paused or (q.max_running is not null and q.name <> ${lockedQueue ?? ''}))
      )
      and exists (select 1 from ${t.executor} e where e.id = ${executorId} and e.state = 'active')
    returning ${attemptColumns}
  `;
}
