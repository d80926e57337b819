import type { ExecutorRegistration } from '../../../core/store.ts';
import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { sql, values, type Statement } from '../statement.ts';

export function insertExecutor(t: Tables, executor: ExecutorRegistration, now: Micros): Statement {
  const { id, name, host, leaseUntil, metadata } = executor;

  return sql`
    insert into ${t.executor} (id, name, host, state, lease_until, started_at, metadata)
    values (${id}, ${name}, ${host}, 'active', ${leaseUntil}, ${now}, ${JSON.stringify(metadata)})
  `;
}

export function stopExecutor(t: Tables, id: string): Statement {
  return sql`update ${t.executor} set state = 'stopped' where id = ${id}`;
}

/** Those of killed processes; their jobs are recovered by themselves. */
export function stopUnleasedExecutors(t: Tables, alive: readonly string[]): Statement {
  return sql`
    with alive(id) as (${values(alive.length === 0 ? [['']] : alive.map(id => [id]))})
    update ${t.executor} set state = 'stopped'
    where state = 'active' and lease_until is null and id not in (select id from alive)
  `;
}

/** Extends a lease whose holder nobody has declared dead, also one whose time is over, and says whether it runs anything. */
export function renewLease(t: Tables, id: string, leaseUntil: Micros): Statement {
  return sql`
    update ${t.executor} set lease_until = ${leaseUntil}
    where id = ${id} and state = 'active' and lease_until is not null
    returning id, exists (select 1 from ${t.job} j where j.executor_id = ${id} and j.state = 'running') as runs
  `;
}

/** Declares executors dead, each by exactly one statement: a lease lives while it is later than now. */
export function lapseExecutors(t: Tables, now: Micros): Statement {
  return sql`
    update ${t.executor} set state = 'lapsed'
    where state = 'active' and lease_until <= ${now}
    returning id
  `;
}

/** Executors that are gone, and hold nothing that is still to be recovered. Begun with `delete`, MikroORM 6 would give no rows on SQLite. */
export function deleteExecutors(t: Tables, before: Micros, limit: number): Statement {
  return sql`
    with gone as (
      select e.id from ${t.executor} e
      where e.state <> 'active' and coalesce(e.lease_until, e.started_at) < ${before}
        and not exists (select 1 from ${t.job} j where j.executor_id = e.id and j.state = 'running')
      order by e.id
      limit ${limit}
    )
    delete from ${t.executor} where id in (select id from gone)
    returning id
  `;
}

/** Whether an executor's time is over, or something runs under one that is not active: all that is asked while all is well. */
export function anyLapsed(t: Tables, now: Micros): Statement {
  return sql`
    select 1 as found
    where exists (select 1 from ${t.executor} where state = 'active' and lease_until <= ${now})
      or exists (
        select 1 from ${t.job} j
        where j.state = 'running'
          and not exists (select 1 from ${t.executor} e where e.id = j.executor_id and e.state = 'active')
      )
  `;
}
