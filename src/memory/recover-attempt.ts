import type { AttemptRef } from '../core/attempt.ts';
import type { Recovery } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import { attemptKeyOf } from './keys.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { leavingFor, ownedAttempt } from './owned-attempt.ts';
import type { StoredJob } from './stored-job.ts';

/** Ends an attempt whose owner is gone, and decides its job. @returns the job's state; null: it isn't the owner */
export function recoverAttempt(
  database: MemoryDatabase,
  ref: AttemptRef,
  { requeue, reason }: Recovery,
  now: Micros,
): 'queued' | 'interrupted' | 'cancelled' | null {
  const owned = ownedAttempt(database, ref);
  if (owned === null) {
    return null;
  }

  const { job, attempt } = owned;
  const state = stateFor(job, requeue);
  const failureReason = state === 'cancelled' ? 'cancel_requested' : reason;

  database.jobs.update(job, {
    ...leavingFor(state, job, now),
    failureReason,
    nextRunAt: state === 'queued' ? now : job.nextRunAt,
  });
  database.attempts.put(attemptKeyOf(attempt), {
    ...attempt,
    state: state === 'cancelled' ? 'cancelled' : 'interrupted',
    failureReason,
    endedAt: now,
  });

  return state;
}

function stateFor(job: StoredJob, requeue: Recovery['requeue']): 'queued' | 'interrupted' | 'cancelled' {
  if (job.cancelRequestedAt !== null) {
    return 'cancelled';
  }

  const mayRunAgain = requeue === 'always' || (requeue === 'declared' && job.onInterrupt === 'requeue');
  return mayRunAgain && job.attemptCount < job.attemptLimit ? 'queued' : 'interrupted';
}
