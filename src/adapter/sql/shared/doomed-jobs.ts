import type { Tables } from '../../tables.ts';
import type { Doomed } from '../dialect.ts';
import { list, sql, values, type Statement } from '../statement.ts';

/**
 * The finished jobs that are to be deleted, without those that an awaiting one waits for. By state they are read in the order of
 * `durable_job_finished`, no further than needed.
 */
export function doomedJobs(t: Tables, doomed: Doomed): Statement {
  // As a join it might begin with all awaiting jobs, for each job anew; this way it begins with the children.
  const hasNoAwaitingChild = sql`not exists (
    select 1
    from ${t.dependency} d
    where d.scope_hash = j.scope_hash and d.parent_id = j.id
      and (select c.state from ${t.job} c where c.scope_hash = d.scope_hash and c.id = d.job_id) = 'awaiting'
  )`;

  switch (doomed.of) {
    case 'state':
      return sql`
        select j.scope_hash, j.id, j.state
        from ${t.job} j
        where j.state = ${doomed.state} and j.finished_at is not null and j.finished_at < ${doomed.before} and ${hasNoAwaitingChild}
        order by j.finished_at
        limit ${doomed.limit}
      `;
    case 'keys':
      return sql`
        select j.scope_hash, j.id, j.state
        from (${values(doomed.keys)}) as wanted
        join ${t.job} j on j.scope_hash = wanted.column1 and j.id = wanted.column2
        where j.state in (${list(doomed.states)}) and j.finished_at is not null and ${hasNoAwaitingChild}
      `;
  }
}
