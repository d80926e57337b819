import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';

/** Makes a queued job due; one that is due already keeps its place. */
export function runJobNow(t: Tables, scopeHash: string, id: string, actor: string | null, now: Micros): Statement {
  return sql`
    update ${t.job}
    set next_run_at = case when next_run_at > ${now} then ${now} else next_run_at end,
        changed_by = ${actor},
        revision = revision + 1
    where scope_hash = ${scopeHash} and id = ${id} and state = 'queued'
    returning state
  `;
}
