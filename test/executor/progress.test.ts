import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { RunningJob } from '../../src/core/handler.ts';
import type { ProgressReport } from '../../src/core/store.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { timers } from '../support/timers.ts';
import { latch } from './support/latch.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work' });

forEachDriver(driver => {
  let world: World;
  beforeEach(async () => void (world = await World.open(driver)));
  afterEach(() => world.close());

  test('a thousand reports reach the store as one, with the last value', async () => {
    const sent: ProgressReport[][] = [];
    let ticks = 0;
    const [reported, gate] = [latch(), latch()];
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          for (let i = 1; i <= 1000; i++) job.progress(i / 20, `step ${i}`);
          await gate.opened;
        }),
      ],
      { progressInterval: '20ms', renewEvery: '20ms' },
      {
        progress: (call, reports) => {
          sent.push([...reports]);
          reported.open();
          return call();
        },
        status: call => (ticks++, call()),
      },
    );

    await executor.start();
    await reported.opened;
    await until(async () => (await world.job('a')).progress === 50);
    expect(await world.job('a')).toMatchObject({ state: 'running', progressMessage: 'step 1000' });
    await until(() => ticks >= 3);
    gate.open();
    await executor.stop();

    expect(sent.map(reports => reports.map(({ value, message }) => ({ value, message })))).toEqual([
      [{ value: 50, message: 'step 1000' }],
    ]);
  });

  test('the last progress travels with the settlement, whatever the handler does', async () => {
    await world.jobs.submit([work.create({}, { id: 'a' }), work.create({}, { id: 'b', retry: false })]);
    let ended = 0;
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          job.progress(33, 'a third');
          ended++;
          if (job.id === 'b') throw new Error('x');
        }),
      ],
      { progressInterval: '5m', renewEvery: '5m' },
    );

    await executor.start();
    await until(() => ended === 2);
    await executor.stop();

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', progress: 33, progressMessage: 'a third' });
    expect(await world.job('b')).toMatchObject({ state: 'failed', progress: 33, progressMessage: 'a third' });
  });

  test('progress after the attempt is over changes nothing and is logged once', async () => {
    const seen = latch<RunningJob<object, unknown>>();
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor([world.jobs.handler(work, async job => seen.open(job))]);
    await executor.start();
    const job = await seen.opened;
    await executor.stop();

    job.progress(80);
    job.progress(90);

    expect((await world.job('a')).progress).toBe(0);
    expect(world.log.troubles).toEqual(['late_progress']);
  });

  test('a progress that is no number fails the attempt', async () => {
    await world.jobs.submit(work.create({}, { id: 'a', retry: false }));
    const executor = world.executor([world.jobs.handler(work, async job => job.progress(NaN))]);

    await executor.start();
    await until(async () => (await world.job('a')).state === 'failed');

    expect((await world.job('a')).lastError).toContain('expected `percent` to be a number from 0 to 100, got NaN');
  });

  if (driver === 'sqlite') {
    test('nothing ticks while nothing runs', async () => {
      const timersWithout = timers();
      const [began, gate] = [latch(), latch()];
      const executor = world.executor(
        [
          world.jobs.handler(work, async () => {
            began.open();
            await gate.opened;
          }),
        ],
        { progressInterval: '10ms', renewEvery: '10ms', pollInterval: '5m' },
      );
      await executor.start();
      // The poller's, the maintenance's and the scheduler's.
      const idle = timersWithout + 3;
      await until(() => timers() === idle);
      await world.jobs.submit(work.create({}, { id: 'a' }));
      await began.opened;
      await until(() => timers() === idle + 1);
      gate.open();

      await until(async () => (await world.job('a')).state === 'succeeded');
      // The last tick may still be on its way.
      let quietTurns = 0;
      await until(() => (quietTurns = timers() === idle ? quietTurns + 1 : 0) === 500);
    });
  }
});
