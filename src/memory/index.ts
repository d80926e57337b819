// In memory, for tests and demos. NOT DURABLE: everything is gone with the process.
export { MemoryJobs, type MemoryExecutorOptions, type MemoryJobsOptions } from './memory-jobs.ts';

// For an executor of your own, or several "processes" in one test.
export { MemoryDatabase } from './memory-database.ts';
export { MemoryIdempotencyStore } from './memory-idempotency-store.ts';
export { MemoryJobStore, type MemoryStoreParts } from './memory-job-store.ts';
export { MemoryQueueStore } from './memory-queue-store.ts';
export { MemoryRecurringStore } from './memory-recurring-store.ts';
export { memoryStores, type MemoryStores } from './memory-stores.ts';
