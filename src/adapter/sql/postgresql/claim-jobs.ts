import { attemptColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import type { Claim, Lane } from '../dialect.ts';
import { prepared, Raw, sql, type Statement } from '../statement.ts';

/** So many free slots have a prepared text of their own each. */
const maxPreparedLimit = 24;

/**
 * Claim: starts what is due in the given lanes, locked inside the lanes so that no two claimers meet and none waits. One
 * statement makes the token, the counted start and the attempt. A queue that was paused or capped since the look gives nothing.
 */
export function claimJobs(t: Tables, claim: Claim): Statement {
  return claim.limit <= maxPreparedLimit ? prepared(claimOf(t, claim)) : claimOf(t, claim);
}

function claimOf(t: Tables, { lanes, executorId, limit, now }: Claim): Statement {
  // In the text: a plan for any limit would be one for a tenth of all that is due.
  const atMost = new Raw(String(Number(limit)));

  return sql`
    with started as (
      update ${t.job} j
      set state = 'running', attempt_token = gen_random_uuid()::text, executor_id = ${executorId}, attempt_count = j.attempt_count + 1,
          progress = 0, progress_message = null, revision = j.revision + 1
      where j.ctid = any(array(${lanes.length === 1 ? dueInLane(t, lanes[0]!, atMost, now) : dueInLanes(t, lanes, atMost, now)}))
        and j.state = 'queued'
        and exists (select 1 from ${t.executor} e where e.id = ${executorId} and e.state = 'active')
      returning j.*
    ),
    attempts as (
      insert into ${t.attempt} (scope_hash, job_id, ordinal, token, executor_id, state, progress, started_at)
      select scope_hash, id, attempt_count, attempt_token, executor_id, 'running', 0, ${now} from started
    )
    select ${attemptColumns} from started
  `;
}

/** Most claims are of one lane, and half as much to plan. */
function dueInLane(t: Tables, { queue, name, version, priority, isCapped }: Lane, limit: Raw, now: number): Statement {
  return sql`
    select j.ctid
    from ${t.job} j
    where j.queue = ${queue} and j.name = ${name} and j.version = ${version} and j.priority = ${priority}
      and j.state = 'queued' and j.next_run_at <= ${now}
      and not exists (
        select 1 from ${t.queue} q where q.name = ${queue} and (q.paused or (q.max_running is not null and not ${isCapped}))
      )
    order by j.next_run_at, j.created_at
    limit ${limit}
    for update of j skip locked
  `;
}

function dueInLanes(t: Tables, lanes: readonly Lane[], limit: Raw, now: number): Statement {
  return sql`
    select due.ctid
    from json_to_recordset(${JSON.stringify(lanes)}::json)
      as lanes(queue varchar, name varchar, version varchar, priority integer, "isCapped" boolean)
    cross join lateral (
      select j.ctid, j.next_run_at, j.created_at
      from ${t.job} j
      where j.queue = lanes.queue and j.name = lanes.name and j.version = lanes.version and j.priority = lanes.priority
        and j.state = 'queued' and j.next_run_at <= ${now}
        and not exists (
          select 1 from ${t.queue} q
          where q.name = lanes.queue and (q.paused or (q.max_running is not null and not lanes."isCapped"))
        )
      order by j.next_run_at, j.created_at
      limit ${limit}
      for update of j skip locked
    ) due
    order by lanes.priority desc, due.next_run_at, due.created_at
    limit ${limit}
  `;
}
