import { attemptColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import type { Start } from '../dialect.ts';
import { sql, type Statement } from '../statement.ts';

/** Starts one job by its key: state, due time and budget are judged by the update itself, so of many starters one wins. */
export function startJob(t: Tables, { scopeHash, id, executorId, token, now }: Start): Statement {
  return sql`
    update ${t.job}
    set state = 'running', attempt_token = ${token}, executor_id = ${executorId}, attempt_count = attempt_count + 1,
        progress = 0, progress_message = null, revision = revision + 1
    where scope_hash = ${scopeHash} and id = ${id} and state = 'queued' and cancel_requested_at is null
      and next_run_at <= ${now} and attempt_count < attempt_limit
      and exists (select 1 from ${t.executor} e where e.id = ${executorId} and e.state = 'active')
    returning ${attemptColumns}
  `;
}
