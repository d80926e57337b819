import { attemptColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import type { Claim, Lane, LanePlace } from '../dialect.ts';
import { prepared, Raw, sql, type Statement } from '../statement.ts';

/**
 * The text says at most so many, and a value how many of them: a plan for any number is one for a tenth of all that is due. What is
 * above isn't locked, as rows are locked one by one, when they are asked for.
 */
const plannedFor = new Raw('100');

/**
 * Claim: starts what is due in the given lanes, locked inside the lanes so that no two claimers meet and none waits. One
 * statement makes the token, the counted start and the attempt. A queue that was paused or capped since the look gives nothing.
 */
export function claimJobs(t: Tables, claim: Claim): Statement {
  return claim.limit <= Number(plannedFor.sql)
    ? prepared(claimOf(t, claim, plannedFor))
    : claimOf(t, claim, new Raw(String(Number(claim.limit))));
}

function claimOf(t: Tables, { lanes, from, executorId, limit, now }: Claim, atMost: Raw): Statement {
  const dueInLane = (lane: LaneInSql, place: LanePlace) => sql`
    select due.ctid, due.next_run_at, due.created_at
    from (${lockedInLane(t, lane, place, atMost, now)}) due
    limit ${limit}
  `;
  // Most claims are of one lane, and half as much to plan.
  const due =
    lanes.length === 1
      ? sql`select due.ctid from (${dueInLane(lanes[0]!, from ?? beginning)}) due`
      : sql`
          select due.ctid
          from json_to_recordset(${JSON.stringify(lanes)}::json)
            as lanes(queue varchar, name varchar, version varchar, priority integer, "isCapped" boolean)
          cross join lateral (${dueInLane(listed, beginning)}) due
          order by lanes.priority desc, due.next_run_at, due.created_at
          limit ${limit}
        `;

  return sql`
    with started as (
      update ${t.job} j
      set state = 'running', attempt_token = gen_random_uuid()::text, executor_id = ${executorId}, attempt_count = j.attempt_count + 1,
          progress = 0, progress_message = null, revision = j.revision + 1
      where j.ctid = any(array(${due}))
        and j.state = 'queued'
        and exists (select 1 from ${t.executor} e where e.id = ${executorId} and e.state = 'active')
      returning ${attemptColumns}
    ),
    attempts as (
      insert into ${t.attempt} (scope_hash, job_id, ordinal, token, executor_id, state, progress, started_at)
      select scope_hash, id, attempt_count, attempt_token, ${executorId}, 'running', 0, ${now} from started
    )
    select * from started
  `;
}

const beginning: LanePlace = { nextRunAt: 0, createdAt: 0 };

type LaneInSql = { readonly [Column in keyof Lane]: Lane[Column] | Raw };

/** A lane of a list of them. */
const listed: LaneInSql = {
  queue: new Raw('lanes.queue'),
  name: new Raw('lanes.name'),
  version: new Raw('lanes.version'),
  priority: new Raw('lanes.priority'),
  isCapped: new Raw('lanes."isCapped"'),
};

/** From a place on, as the index keeps what was claimed before it until nobody can see that any more. */
function lockedInLane(t: Tables, lane: LaneInSql, from: LanePlace, atMost: Raw, now: number): Statement {
  const { queue, name, version, priority, isCapped } = lane;

  return sql`
    select j.ctid, j.next_run_at, j.created_at
    from ${t.job} j
    where j.queue = ${queue} and j.name = ${name} and j.version = ${version} and j.priority = ${priority}
      and j.state = 'queued' and j.next_run_at <= ${now}
      and (j.next_run_at, j.created_at) >= (${from.nextRunAt}, ${from.createdAt})
      and not exists (
        select 1 from ${t.queue} q where q.name = ${queue} and (q.paused or (q.max_running is not null and not ${isCapped}))
      )
    order by j.next_run_at, j.created_at
    limit ${atMost}
    for update of j skip locked
  `;
}
