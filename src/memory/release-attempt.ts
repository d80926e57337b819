import type { AttemptRef } from '../core/attempt.ts';
import type { Micros } from '../core/time.ts';
import { attemptKeyOf } from './keys.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { leavingFor, ownedAttempt } from './owned-attempt.ts';

/** Undoes a start; where a cancel was requested meanwhile, the start counts and has ended cancelled. @returns null: it isn't the owner */
export function releaseAttempt(
  database: MemoryDatabase,
  ref: AttemptRef,
  now: Micros,
): 'released' | 'cancelled' | null {
  const owned = ownedAttempt(database, ref);
  if (owned === null) {
    return null;
  }

  const { job, attempt } = owned;
  const clean = { progress: 0, progressMessage: null };

  if (job.cancelRequestedAt !== null) {
    const failureReason = 'cancel_requested';
    database.jobs.update(job, { ...leavingFor('cancelled', job, now), ...clean, failureReason });
    database.attempts.put(attemptKeyOf(attempt), { ...attempt, state: 'cancelled', failureReason, endedAt: now });
    return 'cancelled';
  }

  database.jobs.update(job, { ...leavingFor('queued', job, now), ...clean, attemptCount: job.attemptCount - 1 });
  database.attempts.delete(attemptKeyOf(attempt));
  return 'released';
}
