import type { CancelAnswer } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { leavingFor } from './owned-attempt.ts';
import { resolveChildren } from './resolve-jobs.ts';
import type { StoredJob } from './stored-job.ts';

/** Cancels what hasn't started, and marks what runs; a running job keeps its first mark. */
export function cancelJob(
  database: MemoryDatabase,
  job: StoredJob,
  { reason = null, actor = null }: { readonly reason?: string | null; readonly actor?: string | null },
  now: Micros,
): CancelAnswer {
  const mark = { cancelRequestedAt: now, cancelReason: reason, changedBy: actor };

  switch (job.state) {
    case 'awaiting':
    case 'queued':
      database.jobs.update(job, { ...leavingFor('cancelled', job, now), ...mark, failureReason: 'cancel_requested' });
      resolveChildren(database, job, now);
      return 'cancelled';
    case 'running':
      if (job.cancelRequestedAt === null) {
        database.jobs.update(job, mark);
      }
      return 'requested';
    case 'cancelled':
      return 'cancelled';
    case 'succeeded':
    case 'failed':
    case 'interrupted':
      return 'finished';
  }
}
