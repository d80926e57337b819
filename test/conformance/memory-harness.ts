import { ManualClock, type Handle } from '../../src/conformance/index.ts';
import type { Clock } from '../../src/core/clock.ts';
import { MemoryDatabase, memoryStores } from '../../src/memory/index.ts';
import type { OpenHarness } from './mikro-orm-harness.ts';

export function memoryHarness(): OpenHarness {
  return {
    name: 'memory',
    abilities: ['severalHandles', 'deleteAttempt', 'deleteJob', 'wakeUp'],
    create: async () => {
      const clock = new ManualClock();
      const database = new MemoryDatabase();

      return {
        ...handleOn(database, clock),
        clock,
        open: async (other: Clock = clock) => handleOn(database, other),
        faults: {
          deleteAttempt: async attempt => database.deleteAttempt(attempt),
          deleteJob: async key => database.deleteJob(key),
        },
        close: async () => {},
      };
    },
    drop: async () => {},
  };
}

function handleOn(database: MemoryDatabase, clock: Clock): Handle {
  const { jobs: store, queues, recurring, idempotency } = memoryStores(clock, database);
  return { store, queues, recurring, idempotency };
}
