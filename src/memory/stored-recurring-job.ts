import type { JobTemplate, RecurringJob, RecurringUpsert } from '../core/recurring.ts';
import type { JobState } from '../core/states.ts';

/** A recurring job as it is kept; frozen at every depth. */
export type StoredRecurringJob = Omit<RecurringJob, 'lastState'>;

/** An upsert as it is stored: what was fired stays, and so does the next occurrence while cron and time zone do. */
export function upserted(job: RecurringUpsert, stored: StoredRecurringJob | undefined): StoredRecurringJob {
  const { scope, id, cron, timeZone, missed, overlap } = job;
  const isSameSchedule = stored?.cron === cron && stored.timeZone === timeZone;

  return {
    scope,
    id,
    cron,
    timeZone,
    template: templateOf(job.template, scope),
    missed: typeof missed === 'string' ? missed : Object.freeze({ ...missed }),
    overlap,
    nextFireAt: isSameSchedule ? (stored.nextFireAt ?? job.nextFireAt) : job.nextFireAt,
    lastFireAt: stored?.lastFireAt ?? null,
    isPaused: stored?.isPaused ?? false,
  };
}

export function recurringJobOf(stored: StoredRecurringJob, lastState: JobState | null): RecurringJob {
  return Object.freeze({ ...stored, lastState });
}

/** A copy of its own, without what belongs to one job alone: a template may be a whole submission. */
function templateOf(template: JobTemplate, scope: string): JobTemplate {
  const { name, version, payload, queue, priority, maxAttempts, onInterrupt, timeoutMs, lifetimeMs } = template;
  const { retryPolicy, metadata } = template;

  return Object.freeze({
    scope,
    name,
    version,
    payload,
    queue,
    priority,
    maxAttempts,
    onInterrupt,
    timeoutMs,
    lifetimeMs,
    retryPolicy: retryPolicy === null || retryPolicy === false ? retryPolicy : Object.freeze({ ...retryPolicy }),
    metadata: metadata === null ? null : Object.freeze({ ...metadata }),
  });
}
