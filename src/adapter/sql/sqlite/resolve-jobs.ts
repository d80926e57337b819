import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import type { Candidates } from '../dialect.ts';
import { resolveCandidates, resolveVerdicts } from '../shared/resolve-candidates.ts';
import { sql, type Statement } from '../statement.ts';

/**
 * Resolves awaiting jobs by their parents' states, later than what ended those. The candidates first: merged into the join, they were
 * looked for anew for each awaiting job (measured: 10 s for the children of 1,000 parents among 5,000, 20 ms this way).
 */
export function resolveJobs(t: Tables, candidates: Candidates, now: Micros): Statement {
  return sql`
    with recursive
    candidates(scope_hash, id) as materialized (${resolveCandidates(t, candidates)}),
    verdicts as materialized (
      select * from (${resolveVerdicts(t)}) as v where is_dead = 1 or is_ready = 1
      order by scope_hash, id limit ${candidates.limit}
    ),
    dead(scope_hash, id) as (
      select scope_hash, id from verdicts where is_dead = 1
      union
      select d.scope_hash, d.job_id
      from dead
      join ${t.dependency} d on d.scope_hash = dead.scope_hash and d.parent_id = dead.id
      join ${t.job} j on j.scope_hash = d.scope_hash and j.id = d.job_id and j.state = 'awaiting'
    ),
    decided(new_scope_hash, new_id, new_state) as materialized (
      select scope_hash, id, 'cancelled' from dead
      union all
      select v.scope_hash, v.id, 'queued' from verdicts v
      where v.is_ready = 1 and not exists (select 1 from dead where dead.scope_hash = v.scope_hash and dead.id = v.id)
    )
    update ${t.job}
    set state = decided.new_state,
        failure_reason = case when decided.new_state = 'cancelled' then 'cancelled_by_parent' end,
        finished_at = case when decided.new_state = 'cancelled' then ${now} end,
        unique_hash = case when decided.new_state = 'queued' then unique_hash end,
        revision = revision + 1
    from decided
    where scope_hash = decided.new_scope_hash and id = decided.new_id and state = 'awaiting'
    returning scope_hash, id, state, scope, name, version, queue
  `;
}
