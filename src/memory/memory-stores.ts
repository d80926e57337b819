import { CreationClock, type Clock } from '../core/clock.ts';
import { MemoryDatabase } from './memory-database.ts';
import { MemoryIdempotencyStore } from './memory-idempotency-store.ts';
import { MemoryJobStore } from './memory-job-store.ts';
import { MemoryQueueStore } from './memory-queue-store.ts';
import { MemoryRecurringStore } from './memory-recurring-store.ts';

export interface MemoryStores {
  readonly jobs: MemoryJobStore;
  readonly queues: MemoryQueueStore;
  readonly recurring: MemoryRecurringStore;
  readonly idempotency: MemoryIdempotencyStore;
}

/**
 * The stores of one process. NOT DURABLE.
 *
 * @param database share one to see two processes with clocks of their own at work. @default an empty one
 */
export function memoryStores(clock: Clock, database: MemoryDatabase = new MemoryDatabase()): MemoryStores {
  const parts = { database, clock, creationClock: new CreationClock(clock) };

  return Object.freeze({
    jobs: new MemoryJobStore(parts),
    queues: new MemoryQueueStore(parts),
    recurring: new MemoryRecurringStore(parts),
    idempotency: new MemoryIdempotencyStore(parts),
  });
}
