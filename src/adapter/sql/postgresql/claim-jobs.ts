import { attemptColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import type { Claim } from '../dialect.ts';
import { sql, type Statement } from '../statement.ts';

/**
 * Claim: starts what is due in the given lanes, locked inside the lanes so that no two claimers meet and none waits. One
 * statement makes the token, the counted start and the attempt. A queue that was paused or capped since the look gives nothing.
 * The outer limit is also the planner's: without it, it expects every lane full and reads a table of some thousand rows whole.
 */
export function claimJobs(t: Tables, { lanes, executorId, tokens, now }: Claim): Statement {
  return sql`
    with lanes as materialized (
      select * from json_to_recordset(${JSON.stringify(lanes)}::json) as l(queue varchar, name varchar, version varchar, priority integer, "isCapped" boolean)
      where not exists (
        select 1 from ${t.queue} q where q.name = l.queue and (q.paused or (q.max_running is not null and not "isCapped"))
      )
    ),
    tokens as materialized (
      select value as token, ordinality from json_array_elements_text(${JSON.stringify(tokens)}::json) with ordinality
    ),
    due as materialized (
      select j.scope_hash, j.id, row_number() over (order by lanes.priority desc, j.next_run_at, j.created_at) as place
      from lanes cross join lateral (
        select j.scope_hash, j.id, j.next_run_at, j.created_at
        from ${t.job} j
        where j.queue = lanes.queue and j.name = lanes.name and j.version = lanes.version and j.priority = lanes.priority
          and j.state = 'queued' and j.next_run_at <= ${now}
        order by j.next_run_at, j.created_at
        limit ${tokens.length}
        for update skip locked
      ) j
      order by place
      limit ${tokens.length}
    ),
    started as (
      update ${t.job} j
      set state = 'running', attempt_token = tokens.token, executor_id = ${executorId}, attempt_count = j.attempt_count + 1,
          progress = 0, progress_message = null, revision = j.revision + 1
      from due join tokens on tokens.ordinality = due.place
      where j.scope_hash = due.scope_hash and j.id = due.id and j.state = 'queued'
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
