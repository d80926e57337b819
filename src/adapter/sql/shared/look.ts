import type { Tables } from '../../tables.ts';
import type { LookRequest } from '../dialect.ts';
import { sql, values, type Statement } from '../statement.ts';

/**
 * Look: for the lanes that a request matches, their priorities and the first due time of each, by skips through the index
 * `durable_job_claim`. A plain read whose cost follows the number of lanes, not of jobs; measured against `queue in (…)
 * order by …`, which sorts every due row.
 */
export function look(t: Tables, { definitions, queues }: LookRequest): Statement {
  return sql`
    with recursive
    queues(queue) as (${queues === null ? queuedQueues(t) : values(queues.map(queue => [queue]))}),
    definitions(name, version) as (${values(definitions.map(({ name, version }) => [name, version]))}),
    lanes(queue, name, version, priority) as (
      select queues.queue, definitions.name, definitions.version, (
        select j.priority from ${t.job} j
        where j.queue = queues.queue and j.name = definitions.name and j.version = definitions.version and j.state = 'queued'
        order by j.priority desc limit 1
      )
      from queues cross join definitions
      where queues.queue is not null
      union all
      select lanes.queue, lanes.name, lanes.version, (
        select j.priority from ${t.job} j
        where j.queue = lanes.queue and j.name = lanes.name and j.version = lanes.version and j.state = 'queued'
          and j.priority < lanes.priority
        order by j.priority desc limit 1
      )
      from lanes
      where lanes.priority is not null
    )
    select lanes.queue, lanes.name, lanes.version, lanes.priority, (
      select j.next_run_at from ${t.job} j
      where j.queue = lanes.queue and j.name = lanes.name and j.version = lanes.version and j.priority = lanes.priority
        and j.state = 'queued'
      order by j.next_run_at limit 1
    ) as first_due_at, settings.paused, settings.max_running, (
      select count(*) from ${t.job} j where settings.max_running is not null and j.queue = lanes.queue and j.state = 'running'
    ) as running
    from lanes left join ${t.queue} settings on settings.name = lanes.queue
    where lanes.priority is not null
  `;
}

/** Every queue in which something waits, each found by one step through the index. */
function queuedQueues(t: Tables): Statement {
  return sql`
    select * from (select j.queue from ${t.job} j where j.state = 'queued' order by j.queue limit 1) as first_queue
    union all
    select (select j.queue from ${t.job} j where j.state = 'queued' and j.queue > queues.queue order by j.queue limit 1)
    from queues
    where queues.queue is not null
  `;
}
