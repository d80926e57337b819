import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineJob } from '../../src/core/definition.ts';
import type { ExecutorOptions } from '../../src/core/executor-options.ts';
import { PermanentError } from '../../src/core/handler-errors.ts';
import type { PrunePolicy } from '../../src/core/store.ts';
import { Pruner } from '../../src/executor/pruner.ts';
import { resolveRetention } from '../../src/core/retention.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { latch } from './support/latch.ts';
import { Log } from './support/log.ts';
import { ManualClock } from './support/manual-clock.ts';
import { World } from './support/world.ts';

const day = 86_400_000;
const minute = 60_000;
const order = z.object({ orderId: z.string() });
const work = defineJob({
  name: 'work',
  schema: order,
  retry: { base: '40m', factor: 1, cap: '40m', jitter: 0, lifetime: '1h' },
});

forEachDriver(driver => {
  let clock: ManualClock;
  let world: World;
  beforeEach(async () => void (world = await World.open(driver, { clock: (clock = new ManualClock()) })));
  afterEach(() => world.close());

  test('an executor deletes jobs by the retention of their state, and nothing else', async () => {
    await endedJobs();

    await pruneWith({ retention: { succeeded: '7d', failed: '90d' } }, 6 * day);
    expect(await idsLeft()).toEqual(['cancelled', 'failed', 'interrupted', 'queued', 'succeeded']);

    await pruneWith({ retention: { succeeded: '7d', failed: '90d' } }, 2 * day);
    expect(await idsLeft()).toEqual(['cancelled', 'failed', 'interrupted', 'queued']);

    await pruneWith({ retention: { succeeded: '7d', failed: '90d' } }, 100 * day);
    expect(await idsLeft()).toEqual(['interrupted', 'queued']);
  });

  test('a dead letter is deleted only by a retention that names its state', async () => {
    await endedJobs();

    await pruneWith({ retention: false }, 1000 * day);
    expect(await idsLeft()).toEqual(['cancelled', 'failed', 'interrupted', 'queued', 'succeeded']);

    await pruneWith({}, day);
    expect(await idsLeft()).toEqual(['failed', 'interrupted', 'queued']);

    await pruneWith({ retention: { interrupted: '90d' } }, day);
    expect(await idsLeft()).toEqual(['failed', 'queued']);
  });

  test('an executor that has been stopped for a week is forgotten', async () => {
    const first = world.executor([other()], { name: 'first', lease: '60s' });
    await first.start();
    await first.stop();

    await pruneWith({}, 6 * day);
    expect((await world.jobs.admin.executors({ all: true })).map(({ name }) => name)).toContain('first');
    await pruneWith({}, 2 * day);
    expect((await world.jobs.admin.executors({ all: true })).map(({ name }) => name)).not.toContain('first');
  });

  test('nothing is retried later than its lifetime, and a resurrection sets no new one', async () => {
    await world.jobs.submit(work.create({ orderId: '1' }, { id: 'a' }));
    const fail = () => Promise.reject(new Error('no luck'));

    await runOnce('a', fail);
    expect(await world.job('a')).toMatchObject({ state: 'queued', failureReason: 'handler_error' });
    clock.advance(40 * minute);
    await runOnce('a', fail);
    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'retry_lifetime_expired', attemptCount: 2 });

    expect(await world.jobs.scope('').resurrect('a')).toBe('queued');
    await runOnce('a', fail);
    expect(await world.job('a')).toMatchObject({ state: 'queued', failureCount: 1, failureReason: 'handler_error' });
  }); // prettier-ignore

  test('a retry keeps the lifetime: its next failure is the last', async () => {
    await world.jobs.submit(work.create({ orderId: '1' }, { id: 'a' }));
    await runOnce('a', () => Promise.reject(new PermanentError('no such card')));
    clock.advance(2 * 60 * minute);
    await world.jobs.scope('').retry('a');

    await runOnce('a', () => Promise.reject(new Error('no luck')));

    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'retry_lifetime_expired' });
  });

  test('a payload that never fitted the schema is repaired, and its handler runs with the repaired one', async () => {
    await world.jobs.submit(defineJob<object>()({ name: 'work' }).create({ order: 1 }, { id: 'a' }));
    await runOnce('a', () => Promise.resolve());
    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'payload_invalid' });

    const repaired = work.create({ orderId: '1' });
    expect(await world.jobs.scope('').resurrect('a', { repaired, actor: 'ann' })).toBe('queued');
    const seen: unknown[] = [];
    await runOnce('a', async (payload, text) => void seen.push(payload, text));

    expect(seen).toEqual([{ orderId: '1' }, '{"orderId":"1"}']);
    expect(await world.job('a')).toMatchObject({ state: 'succeeded', isRepaired: true, changedBy: 'ann' });
  });

  test('a resurrection wakes the executor', async () => {
    const succeeded = latch();
    let isBroken = true;
    await world.jobs.submit(work.create({ orderId: '1' }, { id: 'a' }));
    const handler = world.jobs.handler(work, () => {
      if (isBroken) throw new PermanentError('no such card');
      succeeded.open();
    });
    await world.executor([handler], { pollInterval: '1h' }).start();
    await until(async () => (await world.job('a')).state === 'failed');
    isBroken = false;

    await world.jobs.scope('').resurrect('a');

    await succeeded.opened;
  });

  /** One job in each state that lasts, all of them ended now. */
  async function endedJobs(): Promise<void> {
    const { store } = world.jobs;
    await store.register({ id: 'e', name: 'e', host: 'h', leaseUntil: null, metadata: {} });
    await world.jobs.submit(
      ['succeeded', 'failed', 'interrupted', 'cancelled', 'queued'].map(id => work.create({ orderId: id }, { id })),
    );
    const attempt = async (id: string) => (await store.tryStart({ scope: '', id }, 'e'))!;
    const ended = { progress: null, failureReason: 'shutdown', error: null } as const;
    await store.settle([
      { ...(await attempt('succeeded')), progress: null, outcome: 'succeeded', resultRef: null },
      { ...(await attempt('failed')), ...ended, outcome: 'failed' },
      { ...(await attempt('interrupted')), ...ended, outcome: 'interrupted' },
    ]);
    await world.jobs.scope('').cancel('cancelled');
  }

  async function idsLeft(): Promise<string[]> {
    return (await world.jobs.scope('').list()).jobs.map(({ id }) => id).sort();
  }

  /** For executors that have nothing to run. */
  function other() {
    return world.jobs.handler(defineJob<object>()({ name: 'other' }), () => {});
  }

  /** An executor does its first round of maintenance. */
  async function pruneWith(options: ExecutorOptions, afterMs: number): Promise<void> {
    clock.advance(afterMs);
    const pruned = latch();
    const executor = world.executor([other()], options, {
      prune: async call => {
        const answer = await call();
        pruned.open();
        return answer;
      },
    });
    await executor.start();
    await pruned.opened;
    await executor.stop();
  }

  async function runOnce(id: string, run: (payload: unknown, text: string) => Promise<void>): Promise<void> {
    const before = (await world.job(id)).attemptCount;
    const executor = world.executor([world.jobs.handler(work, job => run(job.payload, job.payloadText))]);
    await executor.start();
    // A stop would give back what was only just claimed.
    await until(async () => {
      const { attemptCount, state } = await world.job(id);
      return attemptCount > before && state !== 'running';
    });
    await executor.stop();
  }
});

/** A store that has so many old jobs, and keeps what it was asked. */
function aFullStore(jobs: number) {
  const asked: PrunePolicy[] = [];
  let left = jobs;

  return {
    asked,
    prune: async (policy: PrunePolicy) => {
      asked.push(policy);
      const deleted = Math.min(left, policy.limit);
      left -= deleted;

      return { jobs: deleted, executors: 0 };
    },
  };
}

test('a turn deletes batches of a thousand until there is no more, then rests for ten minutes', async () => {
  const [clock, store, log] = [new ManualClock(), aFullStore(2500), new Log()];
  const pruner = new Pruner({ store, retention: resolveRetention({ failed: '90d' }), clock, logger: log });
  const { signal } = new AbortController();
  const now = clock.now();

  await pruner.run(signal);
  clock.advance(10 * minute - 1);
  await pruner.run(signal);
  expect(store.asked.map(({ limit }) => limit)).toEqual([1000, 1000, 1000]);
  expect(store.asked[0]).toMatchObject({
    finishedBefore: {
      succeeded: now - 30 * day * 1000,
      cancelled: now - 30 * day * 1000,
      failed: now - 90 * day * 1000,
      interrupted: null,
    },
    executorsBefore: now - 7 * day * 1000,
  });
  expect(log.of('pruned')).toMatchObject([{ jobs: 2500, executors: 0 }]);

  clock.advance(1);
  await pruner.run(signal);
  expect(store.asked).toHaveLength(4);
});

test('a turn ends after twenty batches, and the next one goes on at once', async () => {
  const [clock, store] = [new ManualClock(), aFullStore(20_500)];
  const pruner = new Pruner({ store, retention: resolveRetention(), clock, logger: new Log() });
  const { signal } = new AbortController();

  await pruner.run(signal);
  expect(store.asked).toHaveLength(20);
  await pruner.run(signal);
  expect(store.asked).toHaveLength(21);
  await pruner.run(signal);
  expect(store.asked).toHaveLength(21);
});

test('a clock that was set back by a year does not keep it from its work', async () => {
  const [clock, store] = [new ManualClock(), aFullStore(0)];
  const pruner = new Pruner({ store, retention: resolveRetention(), clock, logger: new Log() });
  const { signal } = new AbortController();
  await pruner.run(signal);

  clock.advance(-365 * day);
  await pruner.run(signal);

  expect(store.asked).toHaveLength(2);
});

test('a stop ends a turn with the batch that is under way', async () => {
  const [clock, stopping] = [new ManualClock(), new AbortController()];
  const { asked, prune } = aFullStore(20_000);
  const store = { prune: (policy: PrunePolicy) => (stopping.abort(), prune(policy)) };
  const pruner = new Pruner({ store, retention: resolveRetention(), clock, logger: new Log() });

  await pruner.run(stopping.signal);

  expect(asked).toHaveLength(1);
});
