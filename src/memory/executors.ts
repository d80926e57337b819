import type { Micros } from '../core/time.ts';
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
