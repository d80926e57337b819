import type { AttemptRef } from '../core/attempt.ts';
import { isFinished, type JobState } from '../core/states.ts';
import type { Micros } from '../core/time.ts';
import { attemptKeyOf } from './keys.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { StoredAttempt } from './stored-attempt.ts';
import type { StoredJob } from './stored-job.ts';

export interface OwnedAttempt {
  readonly job: StoredJob;
  readonly attempt: StoredAttempt;
}

/** The fence: a running attempt that still owns its job, or null, and then nothing may be written for it. */
export function ownedAttempt(database: MemoryDatabase, ref: AttemptRef): OwnedAttempt | null {
  const job = database.jobs.get(ref);
  const attempt = attemptOf(database, ref);
  const isOwner = job?.state === 'running' && job.token === ref.token;

  return isOwner && attempt?.state === 'running' ? { job, attempt } : null;
}

/** The attempt with this token, running or not. */
export function attemptOf(database: MemoryDatabase, ref: AttemptRef): StoredAttempt | undefined {
  const attempt = database.attempts.get(attemptKeyOf(ref));
  return attempt?.token === ref.token ? attempt : undefined;
}

/** What a job no longer has when it stops running. */
export function leavingFor(state: JobState, job: StoredJob, now: Micros): Partial<StoredJob> {
  const hasEnded = isFinished(state);

  return {
    state,
    token: null,
    executorId: null,
    finishedAt: hasEnded ? now : null,
    heldKey: hasEnded ? null : job.heldKey,
  };
}
