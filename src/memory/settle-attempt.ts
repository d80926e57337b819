import type { Settlement } from '../core/attempt.ts';
import type { FailureReason } from '../core/failure-reason.ts';
import type { JobState } from '../core/states.ts';
import type { Micros } from '../core/time.ts';
import { attemptKeyOf } from './keys.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { leavingFor, ownedAttempt } from './owned-attempt.ts';

/** Writes an outcome, behind the token; the cancel mark is read here. @returns the job's state; null: it isn't the owner */
export function settleAttempt(database: MemoryDatabase, settlement: Settlement, now: Micros): JobState | null {
  const owned = ownedAttempt(database, settlement);
  if (owned === null) {
    return null;
  }

  const { job, attempt } = owned;
  const { outcome, progress } = settlement;
  const state = job.cancelRequestedAt === null ? stateFor(outcome) : 'cancelled';
  const isSnoozed = state === 'queued' && outcome === 'snoozed';
  const isFailure = state !== 'cancelled' && (outcome === 'failed' || outcome === 'rescheduled');
  const { error, ...written } = writtenOf(settlement, state);

  database.jobs.update(job, {
    ...leavingFor(state, job, now),
    ...written,
    attemptLimit: job.attemptLimit + (isSnoozed ? 1 : 0),
    failureCount: job.failureCount + (isFailure ? 1 : 0),
    nextRunAt: state === 'queued' && 'nextRunAt' in settlement ? settlement.nextRunAt : job.nextRunAt,
    progress: Math.max(job.progress, progress?.value ?? 0),
    progressMessage: progress?.message ?? job.progressMessage,
    lastError: error ?? job.lastError,
  });
  database.attempts.put(attemptKeyOf(attempt), {
    ...attempt,
    ...written,
    state: state === 'cancelled' ? 'cancelled' : outcome === 'rescheduled' ? 'failed' : outcome,
    progress: Math.max(attempt.progress, progress?.value ?? 0),
    progressMessage: progress?.message ?? attempt.progressMessage,
    error,
    endedAt: now,
  });

  return state;
}

function stateFor(outcome: Settlement['outcome']): JobState {
  return outcome === 'rescheduled' || outcome === 'snoozed' ? 'queued' : outcome;
}

/** What a settlement says in words. A cancelled job has its own reason, and no result. */
function writtenOf(
  settlement: Settlement,
  state: JobState,
): { resultRef: string | null; failureReason: FailureReason | null; error: string | null } {
  const said = { resultRef: null, failureReason: null, error: null, ...settlement };

  return {
    resultRef: state === 'succeeded' ? said.resultRef : null,
    failureReason: state === 'cancelled' ? 'cancel_requested' : said.failureReason,
    error: said.error,
  };
}
