import { isFinished } from '../core/states.ts';
import { refuseForeignRepair } from '../core/refuse-foreign-repair.ts';
import type { Resurrection, ResurrectAnswer, RetryAnswer } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { verdictFor } from './resolve-jobs.ts';
import type { StoredJob } from './stored-job.ts';

/** Queues a finished job again, or lets it wait for its parents again; what the last run left on it is cleared. */
export function retryJob(
  database: MemoryDatabase,
  job: StoredJob,
  { at, actor = null }: { readonly at: Micros; readonly actor?: string | null },
): RetryAnswer {
  const isSpent = isFinished(job.state) && job.state !== 'succeeded' && job.attemptCount >= job.attemptLimit;

  return isSpent ? 'no_starts_left' : bringBack(database, job, { nextRunAt: at, changedBy: actor });
}

/** The same with a fresh budget; the queue that it is moved from is kept, as its request is compared with that one. */
export function resurrectJob(
  database: MemoryDatabase,
  job: StoredJob,
  { repair, priority, queue, actor }: Resurrection,
  now: Micros,
): ResurrectAnswer {
  refuseForeignRepair(job, repair);

  return bringBack(database, job, {
    nextRunAt: now,
    attemptLimit: job.attemptCount + job.maxAttempts,
    failureCount: 0,
    retryUntil: null,
    changedBy: actor ?? null,
    ...(repair !== undefined && { payloadOverride: repair.payload }),
    ...(priority !== undefined && { priority }),
    ...(queue !== undefined && { queue, initialQueue: job.initialQueue ?? job.queue }),
  });
}

function bringBack(database: MemoryDatabase, job: StoredJob, changes: Partial<StoredJob>): ResurrectAnswer {
  if (job.state === 'succeeded') {
    return 'succeeded';
  }
  if (!isFinished(job.state)) {
    return 'not_finished';
  }

  const verdict = verdictFor(database, job);
  if (verdict === 'dead') {
    return 'parents_not_succeeded';
  }

  const state = verdict === 'ready' ? 'queued' : 'awaiting';
  database.jobs.update(job, {
    ...changes,
    state,
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
