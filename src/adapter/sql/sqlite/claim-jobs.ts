import { attemptColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import type { Claim, Lane } from '../dialect.ts';
import { prepared, sql, type Statement } from '../statement.ts';

/** A compound select takes 500 terms; the rest of so many lanes has its turn with the next claims. */
const maxLanes = 200;

/**
 * Claim, first statement: starts what is due in the given lanes. It writes first, so no other process comes between. Each lane is
 * read by itself, in the order of its index and no further than needed: one sort over all that is due would make a drain
 * quadratic. A queue that was paused or capped since the look gives nothing.
 */
export function claimJobs(t: Tables, { lanes, executorId, now }: Claim, tokens: readonly string[]): Statement {
  const due = lanes.slice(0, maxLanes).map(lane => dueInLane(t, lane, now, tokens.length));

  return prepared(sql`
    update ${t.job}
    set state = 'running', attempt_token = due.token, executor_id = ${executorId}, attempt_count = attempt_count + 1,
        progress = 0, progress_message = null, revision = revision + 1
    from (
      select ranked.scope_hash as due_scope_hash, ranked.id as due_id, json_extract(${JSON.stringify(tokens)}, '$[' || ranked.place || ']') as token
      from (
        select scope_hash, id, row_number() over (order by priority desc, next_run_at, created_at) - 1 as place
        from (${due.reduce((all, lane) => sql`${all} union all ${lane}`)})
      ) as ranked
      where ranked.place < ${tokens.length}
    ) as due
    where scope_hash = due.due_scope_hash and id = due.due_id and state = 'queued'
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
      select j.scope_hash, j.id, j.priority, j.next_run_at, j.created_at
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
