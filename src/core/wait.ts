import { setTimeout as delay } from 'node:timers/promises';
import { durationMs, type Duration } from './duration.ts';
import { describeKey, JobsError } from './errors.ts';
import type { JobKey } from './job-key.ts';
import type { JobSnapshot } from './snapshot.ts';
import { isFinished, type JobState } from './states.ts';

/** A job had not ended when the wait was over. */
export class WaitTimeoutError extends JobsError {
  readonly code = 'WAIT_TIMEOUT';
  readonly key: JobKey;
  /** Null: there was no such job. */
  readonly state: JobState | null;

  constructor(key: JobKey, state: JobState | null) {
    super(`Job ${describeKey(key)} ${state === null ? 'was not there' : `was still ${state}`} when the wait was over.`);
    this.key = key;
    this.state = state;
  }
}

const firstPauseMs = 20;
const longestPauseMs = 500;

/**
 * Waits until a job has ended, by looking at it again and again: for scripts and tests, not for requests.
 *
 * @throws WaitTimeoutError
 */
export async function waitForEnd(
  key: JobKey,
  get: () => Promise<JobSnapshot | null>,
  timeout: Duration,
): Promise<JobSnapshot> {
  const signal = AbortSignal.timeout(Math.min(Math.ceil(durationMs(timeout, 'timeout')), 2_147_483_647));

  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const job = await get();
    if (job !== null && isFinished(job.state)) {
      return job;
    }
    if (signal.aborted) {
      throw new WaitTimeoutError(key, job?.state ?? null);
    }

    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}
