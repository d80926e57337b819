import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { RunningJob } from '../../src/core/handler.ts';
import { SnoozeError } from '../../src/core/handler-errors.ts';
import { spawnNode } from '../support/child.ts';
import { dbNameOf, forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { timers } from '../support/timers.ts';
import { aborted, latch, turns } from './support/latch.ts';
import { World } from './support/world.ts';

const held = defineJob<object>()({ name: 'held' });
const repeatable = defineJob<object>()({ name: 'repeatable', onInterrupt: 'requeue' });

forEachDriver(driver => {
  let world: World;
  beforeEach(async () => void (world = await World.open(driver, { file: true })));
  afterEach(() => world.close());

  test('stop waits for the handlers, and for their outcomes to be written', async () => {
    const [began, gate] = [latch(), latch()];
    let stopped = false;
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(held, async () => {
        began.open();
        await gate.opened;
        return 'done';
      }),
    ]);
    await executor.start();
    await began.opened;

    const stop = executor.stop().then(() => (stopped = true));
    await turns(500);
    expect(stopped).toBe(false);
    gate.open();
    await stop;

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', resultRef: 'done' });
  });

  test('a handler that fails while its executor drains is retried as ever', async () => {
    const [began, gate] = [latch(), latch()];
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(held, async () => {
        began.open();
        await gate.opened;
        throw new Error('x');
      }),
    ]);
    await executor.start();
    await began.opened;

    const stop = executor.stop();
    gate.open();
    await stop;

    expect(await world.job('a')).toMatchObject({ state: 'queued', failureReason: 'handler_error', failureCount: 1 });
  });

  test('after the drain the signal fires; who throws then is interrupted or queued again, without a failure', async () => {
    const began = [latch(), latch()];
    const whys: unknown[] = [];
    const run = async ({ signal, id, progress }: RunningJob<object, unknown>) => {
      progress(20);
      began[id === 'held' ? 0 : 1]!.open();
      await aborted(signal).catch(error => {
        whys.push(error.why);
        throw error;
      });
    };
    await world.jobs.submit([held.create({}, { id: 'held' }), repeatable.create({}, { id: 'repeatable' })]);
    const executor = world.executor([world.jobs.handler(held, run), world.jobs.handler(repeatable, run)], {
      drainTimeout: 20,
      abortGrace: '5m',
      progressInterval: '5m',
      renewEvery: '5m',
    });
    await executor.start();
    await Promise.all(began.map(({ opened }) => opened));

    await executor.stop();

    expect(whys).toEqual(['stopped', 'stopped']);
    expect(await world.job('held')).toMatchObject({
      state: 'interrupted',
      failureReason: 'shutdown',
      failureCount: 0,
      progress: 20,
    });
    expect(await world.job('repeatable')).toMatchObject({ state: 'queued', failureCount: 0, attemptCount: 1 });
    expect(world.log.of('executor_stopped')).toMatchObject([{ recovered: 2, unsettled: 0 }]);
  });

  test('a handler that returns after the abort has succeeded', async () => {
    const began = latch();
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(held, async ({ signal }) => {
          began.open();
          await aborted(signal).catch(() => {});
          return 'in time';
        }),
      ],
      { drainTimeout: 0, abortGrace: '5m' },
    );
    await executor.start();
    await began.opened;

    await executor.stop();

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', resultRef: 'in time' });
  });

  test('a handler that ignores everything is given up: its job is recovered, and its late result is refused', async () => {
    const began = [latch(), latch()];
    const [gate, ended] = [latch(), latch()];
    let lateTransaction: unknown;
    const run = async (job: RunningJob<object, unknown>) => {
      began[job.id === 'held' ? 0 : 1]!.open();
      job.progress(40, 'deaf');
      await gate.opened;
      if (job.id === 'held') {
        await job.transactional(async () => {}).catch(error => (lateTransaction = error.why));
        ended.open();
      }
      return 'late';
    };
    await world.jobs.submit([held.create({}, { id: 'held' }), repeatable.create({}, { id: 'repeatable' })]);
    const executor = world.executor([world.jobs.handler(held, run), world.jobs.handler(repeatable, run)], {
      drainTimeout: 10,
      abortGrace: 10,
      progressInterval: '5m',
      renewEvery: '5m',
    });
    await executor.start();
    await Promise.all(began.map(({ opened }) => opened));

    await executor.stop();
    expect(await world.job('held')).toMatchObject({ state: 'interrupted', failureReason: 'shutdown', progress: 40 });
    expect(await world.job('repeatable')).toMatchObject({ state: 'queued' });

    gate.open();
    await ended.opened;
    await until(() => world.log.of('late_result').length === 2);
    expect(lateTransaction).toBe('lost');
    expect(await world.job('held')).toMatchObject({ state: 'interrupted', resultRef: null });
    expect(await world.job('repeatable')).toMatchObject({ state: 'queued', resultRef: null });
  });

  test('jobs whose claim comes back after the stop began are given back: no start is counted', async () => {
    const [claimed, answer] = [latch(), latch()];
    let calls = 0;
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor(
      [world.jobs.handler(held, async () => void calls++)],
      {},
      {
        claim: async call => {
          const claim = await call();
          claimed.open();
          await answer.opened;
          return claim;
        },
      },
    );
    await executor.start();
    await claimed.opened;
    expect((await world.job('a')).state).toBe('running');

    const stop = executor.stop();
    answer.open();
    await stop;

    expect(calls).toBe(0);
    expect(await world.job('a')).toMatchObject({ state: 'queued', attemptCount: 0 });
    expect(await world.jobs.scope('').attempts('a')).toEqual([]);
  });

  test('a stop amid jobs that come back again and again ends, and nothing is left running', async () => {
    let starts = 0;
    await world.jobs.submit(Array.from({ length: 20 }, () => held.create({})));
    const executor = world.executor([
      world.jobs.handler(held, async () => {
        starts++;
        throw new SnoozeError(0);
      }),
    ]);
    await executor.start();
    await until(() => starts > 30);

    await executor.stop();
    const startsThen = starts;
    await turns(500);

    expect(starts).toBe(startsThen);
    expect(await world.jobs.store.running({ limit: 1 })).toEqual([]);
  });

  test('stop may be called before the start, twice, and during the start; then the executor starts again', async () => {
    const ran: string[] = [];
    const executor = world.executor([world.jobs.handler(held, async job => void ran.push(job.id))]);

    await executor.stop();
    const starts = [executor.start(), executor.start()];
    const stops = [executor.stop(), executor.stop()];
    expect(stops[0]).toBe(stops[1]);
    await Promise.all([...starts, ...stops]);
    expect(world.log.of('executor_started')).toHaveLength(1);
    expect(world.log.of('executor_stopped')).toHaveLength(1);

    const again = executor.start();
    await world.jobs.submit(held.create({}, { id: 'a' }));
    await again;
    await until(() => ran.length === 1);
    const stopped = executor.stop();
    await executor.start();
    await stopped;
    await world.jobs.submit(held.create({}, { id: 'b' }));
    await until(() => ran.length === 2);
    await executor.stop();

    expect(ran).toEqual(['a', 'b']);
  });

  test('a start during a stop waits for its end', async () => {
    const [began, gate] = [latch(), latch()];
    const ran: string[] = [];
    await world.jobs.submit(held.create({}, { id: 'first' }));
    const executor = world.executor([
      world.jobs.handler(held, async job => {
        ran.push(job.id);
        began.open();
        await gate.opened;
      }),
    ]);
    await executor.start();
    await began.opened;

    const stopped = executor.stop();
    const started = executor.start();
    await world.jobs.submit(held.create({}, { id: 'second' }));
    await turns(500);
    expect(ran).toEqual(['first']);
    gate.open();
    await Promise.all([stopped, started]);
    await until(() => ran.length === 2);

    expect((await world.job('first')).state).toBe('succeeded');
  });

  test('a stopped executor is no longer listed as active, and no longer listens', async () => {
    let listeners = 0;
    const executor = world.executor(
      [world.jobs.handler(held, async () => {})],
      {},
      {
        subscribe: call => {
          const unsubscribe = call();
          listeners++;
          return () => {
            listeners--;
            return unsubscribe();
          };
        },
      },
    );
    await executor.start();
    expect(listeners).toBe(1);

    await executor.stop();

    expect(listeners).toBe(0);
    expect(await world.orm.em.execute('select state from durable_executor')).toEqual([{ state: 'stopped' }]);
  });

  if (driver === 'sqlite') {
    test('a stop that has nothing to wait for leaves no timer of its budget behind', async () => {
      const timersBefore = timers();
      const executor = world.executor([world.jobs.handler(held, async () => {})]);
      await executor.start();
      await until(() => timers() > timersBefore);

      await executor.stop();

      expect(timers()).toBe(timersBefore);
    });
  }

  test('a process whose executor has stopped ends by itself, also when a handler never does', async () => {
    const child = spawnNode('test/executor/programs/stop-and-exit.ts', [driver, dbNameOf(world.orm)]);

    const { code } = await child.exited;

    expect([code, child.stderr()]).toEqual([0, '']);
    expect(child.stdout()).toContain('stopped with 1 recovered');
  });

  test('a handler may stop its own executor', async () => {
    const stopped = latch();
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(held, async () => {
          void executor.stop().then(() => stopped.open());
          return 'last';
        }),
      ],
      {},
    );
    await executor.start();
    await stopped.opened;

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', resultRef: 'last' });
  });
});
