import { attemptColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import type { Claim, Lane } from '../dialect.ts';
import { prepared, Raw, sql, type Statement } from '../statement.ts';

/** A compound select takes 500 terms; the rest of so many lanes has its turn with the next claims. */
const maxLanes = 200;

/** A UUIDv4, made for each row anew. */
const newToken = new Raw(
  `printf('%08x-%04x-4%03x-%04x-%012x', ${[
    'random() & 0xffffffff',
    'random() & 0xffff',
    'random() & 0xfff',
    'random() & 0x3fff | 0x8000',
    'random() & 0xffffffffffff',
  ].join(', ')})`,
);

/**
 * Claim, first statement: starts what is due in the given lanes. It writes first, so no other process comes between. Each lane is
 * read by itself, in the order of its index and no further than needed: one sort over all that is due would make a drain
 * quadratic. A queue that was paused or capped since the look gives nothing.
 */
export function claimJobs(t: Tables, { lanes, executorId, limit, now }: Claim): Statement {
  const due = lanes.slice(0, maxLanes).map(lane => dueInLane(t, lane, now, limit));

  return prepared(sql`
    update ${t.job}
    set state = 'running', attempt_token = ${newToken}, executor_id = ${executorId}, attempt_count = attempt_count + 1,
        progress = 0, progress_message = null, revision = revision + 1
    where rowid in (
      select due_rowid
      from (${due.reduce((all, lane) => sql`${all} union all ${lane}`)})
      order by priority desc, next_run_at, created_at
      limit ${limit}
    )
      and exists (select 1 from ${t.executor} e where e.id = ${executorId} and e.state = 'active')
    returning ${attemptColumns}
  `);
}

function dueInLane(
  t: Tables,
  { queue, name, version, priority, isCapped }: Lane,
  now: number,
  limit: number,
): Statement {
  return sql`
    select * from (
      select j.rowid as due_rowid, j.priority, j.next_run_at, j.created_at
      from ${t.job} j
      where j.queue = ${queue} and j.name = ${name} and j.version = ${version} and j.priority = ${priority}
        and j.state = 'queued' and j.next_run_at <= ${now}
        and not exists (
          select 1 from ${t.queue} q where q.name = ${queue} and (q.paused or (q.max_running is not null and not ${isCapped}))
        )
      order by j.next_run_at, j.created_at
      limit ${limit}
    )
  `;
}
