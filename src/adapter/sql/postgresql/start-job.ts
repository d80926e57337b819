import { attemptColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import type { Start } from '../dialect.ts';
import { sql, type Statement } from '../statement.ts';

/** Starts one job by its key: state, due time, budget and queue are judged by the update itself, so of many starters one wins. */
export function startJob(t: Tables, { scopeHash, id, executorId, token, now, lockedQueue }: Start): Statement {
  return sql`
    with started as (
      update ${t.job} j
      set state = 'running', attempt_token = ${token}, executor_id = ${executorId}, attempt_count = j.attempt_count + 1,
          progress = 0, progress_message = null, revision = j.revision + 1
      where j.scope_hash = ${scopeHash} and j.id = ${id} and j.state = 'queued' and j.cancel_requested_at is null
        and j.next_run_at <= ${now} and j.attempt_count < j.attempt_limit
        and not exists (
          select 1 from ${t.queue} q
          where q.name = j.queue and (q.paused or (q.max_running is not null and q.name <> ${lockedQueue ?? ''}))
        )
        and exists (select 1 from ${t.executor} e where e.id = ${executorId} and e.state = 'active')
      returning j.*
    ),
    attempts as (
      insert into ${t.attempt} (scope_hash, job_id, ordinal, token, executor_id, state, progress, started_at)
      select scope_hash, id, attempt_count, attempt_token, executor_id, 'running', 0, ${now} from started
    )
    select ${attemptColumns} from started
  `;
}
