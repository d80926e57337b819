import { describeKey, JobsError } from './errors.ts';
import type { JobKey } from './job-key.ts';

/** Why an attempt's signal fired. */
export type AbortWhy = 'cancelled' | 'timed_out' | 'stopped' | 'lost';

const explanation: Record<AbortWhy, string> = {
  cancelled: 'a cancel of the job was requested',
  timed_out: 'its time is up',
  stopped: 'the executor is stopping',
  lost: 'it no longer owns the job',
};

/** The reason of a handler's signal. When it says `lost`, its `cause` says how: a StaleAttemptError or an AttemptMissingError. */
export class AttemptAbortedError extends JobsError {
  readonly code = 'ATTEMPT_ABORTED';
  readonly key: JobKey;
  readonly attempt: number;
  readonly why: AbortWhy;

  constructor(key: JobKey, attempt: number, why: AbortWhy, options?: ErrorOptions) {
    super(`Attempt ${attempt} of job ${describeKey(key)} was aborted: ${explanation[why]}.`, options);
    this.key = key;
    this.attempt = attempt;
    this.why = why;
  }
}
