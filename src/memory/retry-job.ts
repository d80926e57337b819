import { isFinished } from '../core/states.ts';
import type { RetryAnswer } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { verdictFor } from './resolve-jobs.ts';
import type { StoredJob } from './stored-job.ts';

/** Queues a finished job again, or lets it wait for its parents again; what the last run left on it is cleared. */
export function retryJob(database: MemoryDatabase, job: StoredJob, at: Micros): RetryAnswer {
  if (job.state === 'succeeded') {
    return 'succeeded';
  }
  if (!isFinished(job.state)) {
    return 'not_finished';
  }
  if (job.attemptCount >= job.attemptLimit) {
    return 'no_starts_left';
  }

  const verdict = verdictFor(database, job);
  if (verdict === 'dead') {
    return 'parents_not_succeeded';
  }

  const state = verdict === 'ready' ? 'queued' : 'awaiting';
  database.jobs.update(job, {
    state,
    nextRunAt: at,
    progress: 0,
    progressMessage: null,
    lastError: null,
    failureReason: null,
    cancelRequestedAt: null,
    cancelReason: null,
    resultRef: null,
    finishedAt: null,
  });
  return state;
}
