import type { Resurrection } from '../../../core/store.ts';
import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';
import { deadParents, stateByParents } from './parents-of.ts';

/**
 * Queues a finished job again with a fresh budget, or lets it wait for its parents again. A repair is taken by the definition that
 * it was made with; the queue that the job is moved from is kept, as its request is compared with that one.
 */
export function resurrectJob(
  t: Tables,
  scopeHash: string,
  id: string,
  { repair, priority, queue, actor }: Resurrection,
  now: Micros,
): Statement {
  const isSameDefinition =
    repair === undefined ? sql`1 = 1` : sql`name = ${repair.name} and version = ${repair.version}`;

  return sql`
    update ${t.job}
    set state = ${stateByParents(t, scopeHash, id)},
        next_run_at = ${now},
        attempt_limit = attempt_count + max_attempts, failure_count = 0, retry_until = null,
        ${repair === undefined ? sql`` : sql`payload_override = ${repair.payload},`}
        ${priority === undefined ? sql`` : sql`priority = ${priority},`}
        ${queue === undefined ? sql`` : sql`initial_queue = coalesce(initial_queue, queue), queue = ${queue},`}
        progress = 0, progress_message = null,
        last_error = null, failure_reason = null,
        cancel_requested_at = null, cancel_reason = null,
        result_ref = null, finished_at = null,
        changed_by = ${actor ?? null},
        revision = revision + 1
    where scope_hash = ${scopeHash} and id = ${id}
      and state in ('failed', 'cancelled', 'interrupted')
      and ${isSameDefinition}
      and not exists (${deadParents(t, scopeHash, id)})
    returning state
  `;
}
