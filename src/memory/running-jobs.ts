import type { RunningFilter } from '../core/store.ts';
import { isActive } from './executors.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { StoredJob } from './stored-job.ts';

/** What runs, by its holder. Without a lease is also who was never registered. */
export function runningJobs(
  database: MemoryDatabase,
  { executorId, unleased = false }: Omit<RunningFilter, 'limit'>,
): StoredJob[] {
  const hasLease = (id: string) => (database.executors.get(id)?.leaseUntil ?? null) !== null;

  return database.jobs
    .inState('running')
    .filter(job => executorId === undefined || job.executorId === executorId)
    .filter(job => !unleased || !hasLease(job.executorId!));
}

/** What runs under executors that lapsed, have stopped, or were never registered. */
export function orphanedJobs(database: MemoryDatabase): StoredJob[] {
  return database.jobs.inState('running').filter(job => !isActive(database, job.executorId!));
}
