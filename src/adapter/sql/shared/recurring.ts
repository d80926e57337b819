import type { RecurringUpsert, Resumption } from '../../../core/recurring.ts';
import { scopeHash } from '../../../core/scope.ts';
import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { Raw, sql, values, type Statement } from '../statement.ts';

const columns = new Raw(
  `scope_hash, id, scope, cron, time_zone, name, version, payload, queue, priority, max_attempts, timeout_ms, retry_policy,
   lifetime_ms, on_interrupt, metadata, missed, missed_limit, overlap, next_fire_at, last_fire_at, paused`,
);

/**
 * Inserts as given, or overwrites what the host says. What was fired stays, and so does the next occurrence while cron and time
 * zone do: an upsert beside a fire can't rewind it.
 */
export function upsertRecurring(t: Tables, job: RecurringUpsert, now: Micros): Statement {
  const { template, missed } = job;

  return sql`
    insert into ${t.recurring} as r (
      scope_hash, id, scope, cron, time_zone, name, version, payload, queue, priority, max_attempts, timeout_ms, retry_policy,
      lifetime_ms, on_interrupt, metadata, missed, missed_limit, overlap, next_fire_at, paused, created_at, updated_at
    )
    values (
      ${scopeHash(job.scope)}, ${job.id}, ${job.scope}, ${job.cron}, ${job.timeZone}, ${template.name}, ${template.version},
      ${template.payload}, ${template.queue}, ${template.priority}, ${template.maxAttempts}, ${template.timeoutMs},
      ${template.retryPolicy === null ? null : JSON.stringify(template.retryPolicy)}, ${template.lifetimeMs},
      ${template.onInterrupt}, ${template.metadata === null ? null : JSON.stringify(template.metadata)},
      ${typeof missed === 'string' ? missed : 'all'}, ${typeof missed === 'string' ? null : missed.upTo}, ${job.overlap},
      ${job.nextFireAt}, ${false}, ${now}, ${now}
    )
    on conflict (scope_hash, id) do update
    set cron = excluded.cron, time_zone = excluded.time_zone, name = excluded.name, version = excluded.version,
        payload = excluded.payload, queue = excluded.queue, priority = excluded.priority,
        max_attempts = excluded.max_attempts, timeout_ms = excluded.timeout_ms, retry_policy = excluded.retry_policy,
        lifetime_ms = excluded.lifetime_ms, on_interrupt = excluded.on_interrupt, metadata = excluded.metadata,
        missed = excluded.missed, missed_limit = excluded.missed_limit, overlap = excluded.overlap,
        next_fire_at = case
          when r.cron = excluded.cron and r.time_zone = excluded.time_zone then coalesce(r.next_fire_at, excluded.next_fire_at)
          else excluded.next_fire_at
        end,
        updated_at = excluded.updated_at
  `;
}

/** Those of a scope that are not among the given ones. */
export function removeOtherRecurring(t: Tables, hash: string, ids: readonly string[]): Statement {
  return sql`
    with kept(id) as (${values(ids.length === 0 ? [['']] : ids.map(id => [id]))})
    delete from ${t.recurring}
    where scope_hash = ${hash} and id not in (select id from kept)
    returning id
  `;
}

/** Begins with a `with`: MikroORM 6 answers no rows of SQLite for a statement that begins with `delete`. */
export function removeRecurring(t: Tables, hash: string, id: string): Statement {
  return sql`
    with removed(scope_hash, id) as (${values([[hash, id]])})
    delete from ${t.recurring}
    where (scope_hash, id) in (select scope_hash, id from removed)
    returning id
  `;
}

export function readRecurring(t: Tables, hash: string, id: string): Statement {
  return sql`
    select ${columns}, ${lastState(t)} as last_state from ${t.recurring} r where scope_hash = ${hash} and id = ${id}
  `;
}

export function listRecurring(t: Tables, hash: string): Statement {
  return sql`
    select ${columns}, ${lastState(t)} as last_state from ${t.recurring} r
    where scope_hash = ${hash}
    order by case when next_fire_at is null then 1 else 0 end, next_fire_at, id
  `;
}

/** The soonest ones, due or not: the first that isn't due says when to look again. Served by `durable_recurring_job_due`. */
export function nextRecurring(t: Tables, limit: number): Statement {
  return sql`
    select ${columns} from ${t.recurring}
    where not paused and next_fire_at is not null
    order by next_fire_at, scope_hash, id
    limit ${limit}
  `;
}

export function pauseRecurring(t: Tables, hash: string, id: string, now: Micros): Statement {
  return sql`
    update ${t.recurring} set paused = ${true}, updated_at = ${now}
    where scope_hash = ${hash} and id = ${id}
    returning id
  `;
}

/**
 * What isn't paused can't be resumed: its next occurrence may be due, and must not be passed over. Nor what was changed since the
 * next occurrence was found.
 */
export function resumeRecurring(
  t: Tables,
  hash: string,
  id: string,
  { cron, timeZone, next }: Resumption,
  now: Micros,
): Statement {
  return sql`
    update ${t.recurring}
    set next_fire_at = case when paused then coalesce(${next}, next_fire_at) else next_fire_at end,
        paused = ${false}, updated_at = ${now}
    where scope_hash = ${hash} and id = ${id} and cron = ${cron} and time_zone = ${timeZone}
    returning id
  `;
}

/** The compare-and-set of a fire: of any number of callers one moves the occurrence on. */
export function moveRecurring(
  t: Tables,
  hash: string,
  id: string,
  { expected, next, fired }: { readonly expected: Micros; readonly next: Micros | null; readonly fired: Micros | null },
): Statement {
  return sql`
    update ${t.recurring}
    set next_fire_at = ${next}, last_fire_at = coalesce(${fired}, last_fire_at)
    where scope_hash = ${hash} and id = ${id} and next_fire_at = ${expected} and not paused
    returning ${columns}
  `;
}

/** The newest job of a recurring one; served by `durable_job_recurring`. */
function lastState(t: Tables): Statement {
  return sql`(
    select j.state from ${t.job} j
    where j.scope_hash = r.scope_hash and j.recurring_id = r.id
    order by j.created_at desc limit 1
  )`;
}
