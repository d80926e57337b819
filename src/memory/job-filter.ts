import type { JobFilter } from '../core/queries.ts';
import { microsOf, type Micros } from '../core/time.ts';
import type { StoredJob } from './stored-job.ts';

/** Whether a job meets all conditions of a filter; an empty list matches nothing. */
export function matcherOf(filter: JobFilter): (job: StoredJob) => boolean {
  const { scope, states, queues, names, reasons, recurringId } = filter;
  const isCreatedInTime = within(filter.createdFrom, filter.createdBefore);
  const isFinishedInTime = within(filter.finishedFrom, filter.finishedBefore);

  return job =>
    (scope === undefined || job.scope === scope) &&
    (states?.includes(job.state) ?? true) &&
    (queues?.includes(job.queue) ?? true) &&
    (names?.includes(job.name) ?? true) &&
    (reasons === undefined || (job.failureReason !== null && reasons.includes(job.failureReason))) &&
    (recurringId === undefined || job.recurringId === recurringId) &&
    isCreatedInTime(job.createdAt) &&
    isFinishedInTime(job.finishedAt);
}

/** Without bounds whatever there is, also nothing; else an instant from the first on and before the second. */
function within(from: Date | undefined, before: Date | undefined): (instant: Micros | null) => boolean {
  const first = from === undefined ? -Infinity : microsOf(from);
  const end = before === undefined ? Infinity : microsOf(before);
  const isUnbounded = from === undefined && before === undefined;

  return instant => isUnbounded || (instant !== null && instant >= first && instant < end);
}
