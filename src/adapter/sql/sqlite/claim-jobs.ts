import { attemptColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import type { Claim } from '../dialect.ts';
import { sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/** Claim, first statement: starts what is due in the given lanes. It writes first, so no other process comes between. */
export function claimJobs(t: Tables, { lanes, executorId, tokens, now }: Claim): Statement {
  return sql`
    update ${t.job}
    set state = 'running', attempt_token = due.token, executor_id = ${executorId}, attempt_count = attempt_count + 1,
        progress = 0, progress_message = null, revision = revision + 1
    from (
      select ranked.scope_hash as due_scope_hash, ranked.id as due_id, tokens.value as token
      from (
        select j.scope_hash, j.id, row_number() over (order by j.priority desc, j.next_run_at, j.created_at) - 1 as place
        from ${jsonRows(lanes, ['queue', 'name', 'version', 'priority'])} as lanes
        join ${t.job} j on j.queue = lanes.queue and j.name = lanes.name and j.version = lanes.version
          and j.priority = lanes.priority and j.state = 'queued' and j.next_run_at <= ${now}
        order by place
        limit ${tokens.length}
      ) as ranked
      join json_each(${JSON.stringify(tokens)}) as tokens on tokens.key = ranked.place
    ) as due
    where scope_hash = due.due_scope_hash and id = due.due_id and state = 'queued'
      and exists (select 1 from ${t.executor} e where e.id = ${executorId} and e.state = 'active')
    returning ${attemptColumns}
  `;
}
