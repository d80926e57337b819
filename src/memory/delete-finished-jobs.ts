import type { MemoryDatabase } from './memory-database.ts';
import type { StoredJob } from './stored-job.ts';

/**
 * Deletes finished jobs with their attempts, at most so many, and none that an awaiting one waits for. The children of one that
 * succeeded have nothing left to wait for; those of the others find it gone.
 *
 * @returns how many were deleted
 */
export function deleteFinishedJobs(database: MemoryDatabase, jobs: readonly StoredJob[], limit: number): number {
  const doomed = jobs.filter(job => database.jobs.childrenOf(job).every(child => child.state !== 'awaiting'));

  for (const job of doomed.slice(0, limit)) {
    if (job.state === 'succeeded') {
      database.jobs.release(job);
    }
    database.deleteJob(job);
  }

  return Math.min(doomed.length, limit);
}
