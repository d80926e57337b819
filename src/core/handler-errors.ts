import { durationMs, type Duration } from './duration.ts';
import { describeKey, InvalidOptionError, JobsError } from './errors.ts';
import type { JobKey } from './job-key.ts';

/** Thrown by a handler: trying again would not help. The job fails at once, whatever its budget; reason `permanent_error`. */
export class PermanentError extends JobsError {
  readonly code = 'PERMANENT';
}

/**
 * Thrown by a handler that was told to come back later (HTTP 429, a full queue). Counts as a failure, reason `throttled`;
 * the next start is not before the given time, which is capped by one hour or the policy's `cap`, whichever is longer.
 */
export class RetryAfterError extends JobsError {
  readonly code = 'RETRY_AFTER';
  readonly after: Duration | Date;

  constructor(after: Duration | Date, message = 'the handler asked to be retried later', options?: ErrorOptions) {
    super(message, options);
    this.after = checkedDelay('after', after);
  }
}

/** Thrown by a handler that has nothing to do yet: the job comes back then. No failure is recorded and no start is spent. */
export class SnoozeError extends JobsError {
  readonly code = 'SNOOZE';
  readonly delay: Duration | Date;

  constructor(delay: Duration | Date, message = 'the handler asked to be called later') {
    super(message);
    this.delay = checkedDelay('delay', delay);
  }
}

/** The stored payload is not what the definition's schema takes. Thrown before the handler; reason `payload_invalid`. */
export class PayloadInvalidError extends JobsError {
  readonly code = 'PAYLOAD_INVALID';
}

/** What the handler returned can't be a result reference, or what work of `job.once` gave can't be stored; reason `result_invalid`. */
export class ResultInvalidError extends JobsError {
  readonly code = 'RESULT_INVALID';
}

/**
 * Thrown by `job.once`: another attempt is at work under the key. A job that lets it go on comes back for the result after
 * `delay`; no failure is recorded and no start is spent.
 */
export class KeyInProgressError extends JobsError {
  readonly code = 'KEY_IN_PROGRESS';
  readonly job: JobKey;
  readonly key: string;
  readonly delay: Duration;

  constructor(job: JobKey, key: string, delay: Duration) {
    super(
      `Job ${describeKey(job)} found another attempt at work under the key "${key}"; it comes back for the result.`,
    );
    this.job = job;
    this.key = key;
    this.delay = delay;
  }
}

function checkedDelay(option: string, delay: Duration | Date): Duration | Date {
  if (!(delay instanceof Date)) {
    durationMs(delay, option);
    return delay;
  }
  if (Number.isNaN(delay.getTime())) {
    throw new InvalidOptionError(option, 'be a valid Date', delay);
  }

  return new Date(delay);
}
