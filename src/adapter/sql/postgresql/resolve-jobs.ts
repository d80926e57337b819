import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import type { Candidates } from '../dialect.ts';
import { resolveCandidates, resolveVerdicts } from '../shared/resolve-candidates.ts';
import { sql, type Statement } from '../statement.ts';

/**
 * Resolves awaiting jobs by their parents' states. A statement of its own, later than what ended the parents: as a step of the
 * settling one it would see that one's old snapshot (measured: 733 of 1,600 children stranded). Takes no lock on a parent: one
 * slow transaction there would stop everything behind it. The candidates first: without statistics the parents were joined with all
 * awaiting jobs of their scope before anything else.
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
    decided(scope_hash, id, new_state) as (
      select scope_hash, id, 'cancelled' from dead
      union all
      select v.scope_hash, v.id, 'queued' from verdicts v
      where v.is_ready = 1 and not exists (select 1 from dead where dead.scope_hash = v.scope_hash and dead.id = v.id)
    ),
    locked as materialized (
      select j.scope_hash, j.id, d.new_state
      from decided d join ${t.job} j on j.scope_hash = d.scope_hash and j.id = d.id and j.state = 'awaiting'
      order by j.scope_hash, j.id
      for update of j
    )
    update ${t.job} j
    set state = l.new_state,
        failure_reason = case when l.new_state = 'cancelled' then 'cancelled_by_parent' end,
        finished_at = case when l.new_state = 'cancelled' then ${now}::bigint end,
        unique_hash = case when l.new_state = 'queued' then j.unique_hash end,
        revision = j.revision + 1
    from locked l
    where j.scope_hash = l.scope_hash and j.id = l.id and j.state = 'awaiting'
    returning j.scope_hash, j.id, j.state, j.scope, j.name, j.version, j.queue
  `;
}
