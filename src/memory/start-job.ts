import { v4 as uuidV4 } from 'uuid';
import type { Attempt, RunningAttempt } from '../core/attempt.ts';
import type { Micros } from '../core/time.ts';
import { attemptKeyOf } from './keys.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { StoredJob } from './stored-job.ts';

/** Starts a queued job: a new token, a counted start, progress 0 and a running attempt. */
export function startJob(database: MemoryDatabase, job: StoredJob, executorId: string, now: Micros): Attempt {
  const token = uuidV4();
  const started = database.jobs.update(job, {
    state: 'running',
    token,
    executorId,
    attemptCount: job.attemptCount + 1,
    progress: 0,
    progressMessage: null,
  });

  const ref = { scope: job.scope, id: job.id, attempt: started.attemptCount, token };
  database.attempts.put(attemptKeyOf(ref), {
    ...ref,
    executorId,
    state: 'running',
    progress: 0,
    progressMessage: null,
    failureReason: null,
    error: null,
    resultRef: null,
    startedAt: now,
    endedAt: null,
  });

  return attemptOf(started, token, now);
}

/** What runs, as recovery sees it. */
export function runningAttemptOf({
  scope,
  id,
  attemptCount,
  token,
  name,
  version,
  queue,
  executorId,
  onInterrupt,
}: StoredJob): RunningAttempt {
  return Object.freeze({
    scope,
    id,
    attempt: attemptCount,
    token: token!,
    name,
    version,
    queue,
    executorId: executorId!,
    onInterrupt,
  });
}

function attemptOf(job: StoredJob, token: string, startedAt: Micros): Attempt {
  return Object.freeze({
    scope: job.scope,
    id: job.id,
    attempt: job.attemptCount,
    token,
    name: job.name,
    version: job.version,
    queue: job.queue,
    priority: job.priority,
    payload: job.payloadOverride ?? job.payload,
    maxAttempts: job.maxAttempts,
    attemptLimit: job.attemptLimit,
    failureCount: job.failureCount,
    onInterrupt: job.onInterrupt,
    timeoutMs: job.timeoutMs,
    retryPolicy: job.retryPolicy,
    retryUntil: job.retryUntil,
    scheduledFor: job.nextRunAt,
    metadata: job.metadata,
    trace: job.trace,
    startedAt,
  });
}
