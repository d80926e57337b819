import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';

/**
 * Cancels in one statement over all active states: two of them would miss a job that starts between. A running job that has the
 * mark is not written again.
 */
export function cancelJob(
  t: Tables,
  scopeHash: string,
  id: string,
  { reason = null, actor = null }: { readonly reason?: string | null; readonly actor?: string | null },
  now: Micros,
): Statement {
  return sql`
    update ${t.job}
    set state = case when state = 'running' then 'running' else 'cancelled' end,
        cancel_requested_at = ${now}, cancel_reason = ${reason},
        failure_reason = case when state = 'running' then failure_reason else 'cancel_requested' end,
        finished_at = case when state = 'running' then null else ${now} end,
        unique_hash = case when state = 'running' then unique_hash else null end,
        changed_by = ${actor},
        revision = revision + 1
    where scope_hash = ${scopeHash} and id = ${id} and state in ('awaiting', 'queued', 'running')
      and (state <> 'running' or cancel_requested_at is null)
    returning state
  `;
}
