import { afterEach, expect, jest, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { ExecutorOptions } from '../../src/core/executor-options.ts';
import { registerHandler } from '../../src/core/handler.ts';
import type { IdempotencyStore } from '../../src/core/idempotency.ts';
import type { RecurringStore } from '../../src/core/recurring.ts';
import type { JobStore } from '../../src/core/store.ts';
import { Executor } from '../../src/executor/executor.ts';
import { MemoryEnvironment } from '../../src/memory/memory-environment.ts';
import { memoryStores } from '../../src/memory/memory-stores.ts';
import { Log } from './support/log.ts';
import { ManualClock } from './support/manual-clock.ts';

const seconds = 3600;

afterEach(() => void jest.useRealTimers());

// On SQL each of these calls is one statement while there is nothing to do; `test/engine/idle.test.ts` counts those.
test('all loops of an idle executor together ask at most once in three seconds, with something to spare', async () => {
  const asked = await askedInAnHour({});

  const counts = Object.fromEntries(
    [...new Set(asked)].map(call => [call, asked.filter(each => each === call).length]),
  );
  expect(Object.keys(counts).sort()).toEqual([
    'claim',
    'dueRecurring',
    'prune',
    'pruneKeys',
    'recoverLapsed',
    'renew',
    'resolve',
  ]);
  // A prune by the defaults is three statements: two states, and executors.
  expect(asked.length + 2 * counts.prune!).toBeLessThanOrEqual((seconds / 3) * 0.98);
  expect(asked.length).toBeGreaterThan(seconds / 6);
});

// What another process changed, of which nothing tells, is found before its occurrence counts as missed.
test.each(['30s', '1h'] as const)(
  'recurring jobs are looked for every minute at least, with maintenance every %s',
  async every => {
    const asked = await askedInAnHour({ maintenanceInterval: every });

    expect(asked.filter(call => call === 'dueRecurring').length).toBeGreaterThan(60);
  },
);

async function askedInAnHour(options: ExecutorOptions): Promise<string[]> {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const clock = new ManualClock();
  const asked: string[] = [];
  const { jobs, recurring, idempotency } = memoryStores(clock);
  const handler = registerHandler(defineJob<object>()({ name: 'step' }), () => {});
  const host = {
    store: counting(jobs as JobStore, asked),
    recurring: counting(recurring as RecurringStore, asked),
    idempotency: counting(idempotency as IdempotencyStore, asked),
    environment: new MemoryEnvironment(jobs),
    clock,
    logger: new Log(),
    random: () => 0.5,
  };
  const executor = new Executor(host, [handler], options);
  await executor.start();
  await seconded(clock, 60);
  asked.length = 0;

  await seconded(clock, seconds);
  const answer = [...asked];

  const stopped = executor.stop();
  await seconded(clock, 1);
  await stopped;
  return answer;
}

async function seconded(clock: ManualClock, count: number): Promise<void> {
  for (let second = 0; second < count; second++) {
    clock.advance(1000);
    await jest.advanceTimersByTimeAsync(1000);
  }
}

function counting<T extends object>(store: T, asked: string[]): T {
  return new Proxy(store, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;

      return (...args: unknown[]) => {
        if (property !== 'subscribe') asked.push(String(property));
        return member.apply(target, args) as unknown;
      };
    },
  });
}
