import type { JobFilter, ListPosition } from '../../../core/queries.ts';
import { scopeHash } from '../../../core/scope.ts';
import { isFinished } from '../../../core/states.ts';
import { microsOf, type Micros } from '../../../core/time.ts';
import { snapshotColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import { list as inList, sql, type Statement } from '../statement.ts';

/** The newest first, a page after a key and not after a number of rows; served by `durable_job_listing`. */
export function listJobs(t: Tables, filter: JobFilter, after: ListPosition | null, limit: number): Statement {
  const position =
    after === null
      ? sql``
      : sql`and (created_at, scope_hash, id) < (${after.createdAt}, ${scopeHash(after.scope)}, ${after.id})`;

  return sql`
    select ${snapshotColumns()}
    from ${t.job}
    where 1 = 1 ${matching(filter)} ${position}
    order by created_at desc, scope_hash desc, id desc
    limit ${limit}
  `;
}

export function countJobs(t: Tables, filter: JobFilter): Statement {
  return sql`
    select queue, name, version, state, count(*) as count
    from ${t.job}
    where 1 = 1 ${matching(filter)}
    group by queue, name, version, state
    order by queue, name, version, state
  `;
}

export function countJobsByReason(t: Tables, filter: JobFilter): Statement {
  return sql`
    select failure_reason, count(*) as count
    from ${t.job}
    where failure_reason is not null ${matching(filter)}
    group by failure_reason
    order by failure_reason
  `;
}

/** What is due; a job that is scheduled for later is not late. */
export function dueByQueue(t: Tables, now: Micros): Statement {
  return sql`
    select queue, count(*) as due, min(next_run_at) as first_due_at
    from ${t.job}
    where state = 'queued' and next_run_at <= ${now}
    group by queue
  `;
}

export function readExecutors(t: Tables, onlyActive: boolean): Statement {
  return sql`
    select e.id, e.name, e.host, e.state, e.lease_until, e.started_at, e.metadata, (
      select count(*) from ${t.job} j where j.executor_id = e.id and j.state = 'running'
    ) as running
    from ${t.executor} e
    where ${!onlyActive} or e.state = 'active'
    order by e.started_at desc, e.id
  `;
}

function matching(filter: JobFilter): Statement {
  const { scope, states, queues, names, reasons, recurringId } = filter;
  const { createdFrom, createdBefore, finishedFrom, finishedBefore } = filter;
  const conditions = [
    scope === undefined ? sql`` : sql`and scope_hash = ${scopeHash(scope)}`,
    oneOf(sql`state`, states),
    // Said again, or the index of finished jobs would not be seen to hold all of them.
    states?.every(isFinished) ? sql`and finished_at is not null` : sql``,
    oneOf(sql`queue`, queues),
    oneOf(sql`name`, names),
    oneOf(sql`failure_reason`, reasons),
    recurringId === undefined ? sql`` : sql`and recurring_id = ${recurringId}`,
    createdFrom === undefined ? sql`` : sql`and created_at >= ${microsOf(createdFrom)}`,
    createdBefore === undefined ? sql`` : sql`and created_at < ${microsOf(createdBefore)}`,
    finishedFrom === undefined ? sql`` : sql`and finished_at >= ${microsOf(finishedFrom)}`,
    finishedBefore === undefined ? sql`` : sql`and finished_at < ${microsOf(finishedBefore)}`,
  ];

  return conditions.reduce((all, condition) => sql`${all} ${condition}`);
}

/** An empty list matches nothing. */
function oneOf(column: Statement, list: readonly string[] | undefined): Statement {
  if (list === undefined) {
    return sql``;
  }

  return list.length === 0 ? sql`and 1 = 0` : sql`and ${column} in (${inList(list)})`;
}
