import type { RunningFilter } from '../../../core/store.ts';
import type { Tables } from '../../tables.ts';
import { Raw, sql, type Statement } from '../statement.ts';

const columns = new Raw(
  'j.scope, j.id, j.name, j.version, j.queue, j.attempt_count, j.attempt_token, j.executor_id, j.on_interrupt, j.cancel_requested_at',
);

/** What runs, by its holder; served by `durable_job_running_executor`. Without a lease is also who is in no table at all. */
export function runningJobs(t: Tables, { executorId, unleased = false, limit }: RunningFilter): Statement {
  const everything = sql`1 = 1`;
  const hasNoLease = sql`not exists (
    select 1 from ${t.executor} e where e.id = j.executor_id and e.lease_until is not null
  )`;

  return sql`
    select ${columns}
    from ${t.job} j
    where j.state = 'running'
      and ${executorId === undefined ? everything : sql`j.executor_id = ${executorId}`}
      and ${unleased ? hasNoLease : everything}
    order by j.scope_hash, j.id
    limit ${limit}
  `;
}

/** What runs under executors that lapsed, have stopped, or are in no table at all. */
export function orphanedJobs(t: Tables, limit: number): Statement {
  return sql`
    select ${columns}
    from ${t.job} j
    where j.state = 'running'
      and not exists (select 1 from ${t.executor} e where e.id = j.executor_id and e.state = 'active')
    order by j.scope_hash, j.id
    limit ${limit}
  `;
}
