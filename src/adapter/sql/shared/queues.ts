import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { sql, values, type Statement } from '../statement.ts';

export function pauseQueue(t: Tables, name: string, isPaused: boolean, actor: string | null, now: Micros): Statement {
  return sql`
    insert into ${t.queue} (name, paused, changed_by, updated_at)
    values (${name}, ${isPaused}, ${actor}, ${now})
    on conflict (name) do update
    set paused = excluded.paused, changed_by = excluded.changed_by, updated_at = excluded.updated_at
  `;
}

export function limitQueue(
  t: Tables,
  name: string,
  maxRunning: number | null,
  actor: string | null,
  now: Micros,
): Statement {
  return sql`
    insert into ${t.queue} (name, paused, max_running, changed_by, updated_at)
    values (${name}, ${false}, ${maxRunning}, ${actor}, ${now})
    on conflict (name) do update
    set max_running = excluded.max_running, changed_by = excluded.changed_by, updated_at = excluded.updated_at
  `;
}

export function readQueues(t: Tables): Statement {
  return sql`select name, paused, max_running, changed_by, updated_at from ${t.queue} order by name`;
}

/** The queue of a queued job, if it has a cap and isn't paused. */
export function cappedQueueOf(t: Tables, scopeHash: string, id: string): Statement {
  return sql`
    select q.name
    from ${t.job} j join ${t.queue} q on q.name = j.queue
    where j.scope_hash = ${scopeHash} and j.id = ${id} and j.state = 'queued' and q.max_running is not null and not q.paused
  `;
}

/** What runs of capped queues; served by `durable_job_running_queue`. */
export function countRunning(t: Tables, queues: readonly string[]): Statement {
  return sql`
    with capped(name) as (${values(queues.map(queue => [queue]))})
    select capped.name, (select count(*) from ${t.job} j where j.queue = capped.name and j.state = 'running') as running
    from capped
  `;
}
