import type { JobFilter } from '../core/queries.ts';
import { microsOf } from '../core/time.ts';
import type { StoredJob } from './stored-job.ts';

/** Whether a job meets all conditions of a filter; an empty list matches nothing. */
export function matcherOf(filter: JobFilter): (job: StoredJob) => boolean {
  const { scope, states, queues, names, reasons, recurringId, createdFrom, createdBefore } = filter;
  const from = createdFrom === undefined ? -Infinity : microsOf(createdFrom);
  const before = createdBefore === undefined ? Infinity : microsOf(createdBefore);

  return job =>
    (scope === undefined || job.scope === scope) &&
    (states?.includes(job.state) ?? true) &&
    (queues?.includes(job.queue) ?? true) &&
    (names?.includes(job.name) ?? true) &&
    (reasons === undefined || (job.failureReason !== null && reasons.includes(job.failureReason))) &&
    (recurringId === undefined || job.recurringId === recurringId) &&
    job.createdAt >= from &&
    job.createdAt < before;
}
