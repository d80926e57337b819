import { UpdateRefusedError } from '../core/control-errors.ts';
import type { JobKey } from '../core/job-key.ts';
import type { JobSnapshot } from '../core/snapshot.ts';
import { isFinished } from '../core/states.ts';
import type { CancelAnswer, ResurrectAnswer, RetryAnswer, RunNowAnswer } from '../core/store.ts';
import type { Row } from './session.ts';

/** So often in a row a job changes between our write and our look only where something else keeps it from being written. */
const maxTries = 20;

/**
 * What a conditional update wrote, or why it wrote nothing. The reason is read later, so it may be gone: a job that could be
 * written by then (it was committed, or ended, or was queued in between) is tried again, never answered wrongly.
 *
 * @param whyNot null where the job could be written now
 * @throws UpdateRefusedError when it could be written again and again, and wasn't
 */
export async function writeOrTell<Reason extends string>(
  key: JobKey,
  write: () => Promise<Row[]>,
  read: () => Promise<JobSnapshot | null>,
  whyNot: (job: JobSnapshot) => Reason | null | Promise<Reason | null>,
): Promise<Row | Reason | 'not_found'> {
  for (let tries = 0; tries < maxTries; tries++) {
    const [row] = await write();
    if (row !== undefined) {
      return row;
    }

    const job = await read();
    const reason = job === null ? 'not_found' : await whyNot(job);
    if (reason !== null) {
      return reason;
    }
  }

  throw new UpdateRefusedError(key);
}

export function whyNotCancelled({ state, cancelRequestedAt }: JobSnapshot): CancelAnswer | null {
  if (state === 'running') {
    return cancelRequestedAt === null ? null : 'requested';
  }
  if (state === 'cancelled') {
    return 'cancelled';
  }

  return isFinished(state) ? 'finished' : null;
}

export function whyNotRetried(job: JobSnapshot): RetryAnswer | null {
  return whyNotResurrected(job) ?? (job.attemptCount < job.attemptLimit ? null : 'no_starts_left');
}

export function whyNotResurrected({ state }: JobSnapshot): ResurrectAnswer | null {
  if (state === 'succeeded') {
    return 'succeeded';
  }

  return isFinished(state) ? null : 'not_finished';
}

export function whyNotDue({ state }: JobSnapshot): RunNowAnswer | null {
  return state === 'queued' ? null : 'not_queued';
}
