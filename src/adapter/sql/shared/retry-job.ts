import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';
import { deadParents, stateByParents } from './parents-of.ts';

/** Queues a finished job again, or lets it wait for its parents again; the budget and the old attempts stay, what the last run left on the job is cleared. */
export function retryJob(t: Tables, scopeHash: string, id: string, actor: string | null, at: Micros): Statement {
  return sql`
    update ${t.job}
    set state = ${stateByParents(t, scopeHash, id)},
        next_run_at = ${at},
        progress = 0, progress_message = null,
        last_error = null, failure_reason = null,
        cancel_requested_at = null, cancel_reason = null,
        result_ref = null, finished_at = null,
        changed_by = ${actor},
        revision = revision + 1
    where scope_hash = ${scopeHash} and id = ${id}
      and state in ('failed', 'cancelled', 'interrupted') and attempt_count < attempt_limit
      and not exists (${deadParents(t, scopeHash, id)})
    returning state
  `;
}
