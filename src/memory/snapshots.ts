import type { AttemptSnapshot, JobSnapshot } from '../core/snapshot.ts';
import { dateOf, type Micros } from '../core/time.ts';
import type { StoredAttempt } from './stored-attempt.ts';
import type { StoredJob } from './stored-job.ts';

/** For a caller: frozen, with Dates of its own, as a Date can be set even where it is frozen. */
export function snapshotOf(job: StoredJob): JobSnapshot {
  return Object.freeze({
    scope: job.scope,
    id: job.id,
    name: job.name,
    version: job.version,
    queue: job.queue,
    priority: job.priority,
    state: job.state,
    attemptCount: job.attemptCount,
    failureCount: job.failureCount,
    maxAttempts: job.maxAttempts,
    attemptLimit: job.attemptLimit,
    onInterrupt: job.onInterrupt,
    progress: job.progress,
    progressMessage: job.progressMessage,
    resultRef: job.resultRef,
    failureReason: job.failureReason,
    lastError: job.lastError,
    cancelRequestedAt: dateOrNull(job.cancelRequestedAt),
    cancelReason: job.cancelReason,
    uniqueKey: job.uniqueKey,
    isRepaired: job.payloadOverride !== null,
    changedBy: job.changedBy,
    metadata: job.metadata,
    recurringId: job.recurringId,
    notBefore: dateOrNull(job.notBefore),
    nextRunAt: dateOf(job.nextRunAt),
    createdAt: dateOf(job.createdAt),
    finishedAt: dateOrNull(job.finishedAt),
    revision: job.revision,
  });
}

export function attemptSnapshotOf(attempt: StoredAttempt): AttemptSnapshot {
  return Object.freeze({
    scope: attempt.scope,
    id: attempt.id,
    attempt: attempt.attempt,
    state: attempt.state,
    executorId: attempt.executorId,
    progress: attempt.progress,
    progressMessage: attempt.progressMessage,
    failureReason: attempt.failureReason,
    error: attempt.error,
    resultRef: attempt.resultRef,
    startedAt: dateOf(attempt.startedAt),
    endedAt: dateOrNull(attempt.endedAt),
  });
}

function dateOrNull(micros: Micros | null): Date | null {
  return micros === null ? null : dateOf(micros);
}
