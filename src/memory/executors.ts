import type { Micros } from '../core/time.ts';
import { runningJobs } from './running-jobs.ts';
import type { MemoryDatabase } from './memory-database.ts';

export function isActive(database: MemoryDatabase, executorId: string): boolean {
  return database.executors.get(executorId)?.state === 'active';
}

/** Declares executors dead: a lease lives while it is later than now. @returns their ids */
export function lapseExecutors({ executors }: MemoryDatabase, now: Micros): string[] {
  const lapsed = executors
    .all()
    .filter(({ state, leaseUntil }) => state === 'active' && leaseUntil !== null && leaseUntil <= now);
  lapsed.forEach(executor => executors.put(executor.id, { ...executor, state: 'lapsed' }));

  return lapsed.map(({ id }) => id);
}

/** Executors that are gone, and hold nothing that is still to be recovered. @returns how many were deleted */
export function deleteExecutors(database: MemoryDatabase, before: Micros, limit: number): number {
  const gone = database.executors
    .all()
    .filter(({ state, leaseUntil, startedAt }) => state !== 'active' && (leaseUntil ?? startedAt) < before)
    .filter(({ id }) => runningJobs(database, { executorId: id }).length === 0)
    .slice(0, limit);
  gone.forEach(({ id }) => database.executors.delete(id));

  return gone.length;
}
