import type { AttemptRef, Settlement } from '../core/attempt.ts';
import type { JobState } from '../core/states.ts';
import type { AttemptStatus } from '../core/store.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { attemptOf, ownedAttempt } from './owned-attempt.ts';
import type { StoredAttempt } from './stored-attempt.ts';
import type { StoredJob } from './stored-job.ts';

export function statusOf(database: MemoryDatabase, ref: AttemptRef): AttemptStatus {
  const owned = ownedAttempt(database, ref);
  if (owned === null) {
    return 'ended';
  }

  return owned.job.cancelRequestedAt === null ? 'active' : 'cancel_requested';
}

/** Why there was nothing to end: the attempt doesn't own the job any more, or its row is gone while it does. */
export function whyNotEnded(database: MemoryDatabase, ref: AttemptRef): 'lost' | 'attempt_missing' {
  return isOwner(database.jobs.get(ref), ref) && attemptOf(database, ref) === undefined ? 'attempt_missing' : 'lost';
}

/** The state that an earlier, unanswered call with this same settlement reached; null: the attempt ended otherwise. */
export function stateSettledBefore(database: MemoryDatabase, settlement: Settlement): JobState | null {
  const job = database.jobs.get(settlement);
  const attempt = attemptOf(database, settlement);
  if (attempt === undefined || isOwner(job, settlement)) {
    return null;
  }
  if (attempt.state === 'cancelled') {
    return 'cancelled';
  }

  const { outcome } = settlement;
  const reached = outcome === 'rescheduled' || outcome === 'snoozed' ? 'queued' : outcome;
  // The attempt is the same whether its job ended or was queued again; only the job tells.
  const isOtherMove = hasRequeued(job, settlement) === (reached !== 'queued');

  return hasWritten(settlement, attempt) && !isOtherMove ? reached : null;
}

function isOwner(job: StoredJob | undefined, { attempt, token }: AttemptRef): boolean {
  return job?.state === 'running' && job.token === token && job.attemptCount === attempt;
}

function hasWritten(settlement: Settlement, attempt: StoredAttempt): boolean {
  const { outcome } = settlement;

  return (
    attempt.state === (outcome === 'rescheduled' ? 'failed' : outcome) &&
    attempt.resultRef === (outcome === 'succeeded' ? settlement.resultRef : null) &&
    attempt.failureReason === ('failureReason' in settlement ? settlement.failureReason : null) &&
    attempt.error === ('error' in settlement ? settlement.error : null)
  );
}

/** Whether the attempt left its job queued; null: the job has moved on since, nobody knows. */
function hasRequeued(job: StoredJob | undefined, { attempt }: AttemptRef): boolean | null {
  if (job?.attemptCount !== attempt) {
    return null;
  }
  if (job.state === 'queued') {
    // A retry clears the reason.
    return job.failureReason === null ? null : true;
  }

  return job.state === 'failed' || job.state === 'interrupted' ? false : null;
}
