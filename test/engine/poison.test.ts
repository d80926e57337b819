import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { microsOfMs } from '../../src/core/time.ts';
import { ManualClock } from '../executor/support/manual-clock.ts';
import { World } from '../executor/support/world.ts';
import { spawnNode } from '../support/child.ts';
import { dbNameOf, forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';

const poison = defineJob<unknown>()({ name: 'poison', maxAttempts: 3 });
const sane = defineJob<unknown>()({ name: 'sane' });
const known = defineJob<unknown>()({ name: 'known' });
const foreign = defineJob<unknown>()({ name: 'foreign', onInterrupt: 'requeue' });

forEachDriver(driver => {
  describe('a job that kills its process', () => {
    let world: World;
    beforeEach(async () => void (world = await World.open(driver, { file: true })));
    afterEach(() => world.close());

    test('each time ends when its starts are spent, and those behind it run', async () => {
      await world.jobs.submit(poison.create({}, { id: 'poison', onInterrupt: 'requeue', priority: 1 }));
      for (let start = 1; start <= 3; start++) {
        const child = runWorker();
        await child.line(`began ${start}`);
        expect(await child.exited).toMatchObject({ code: 1 });
        expect(await world.job('poison')).toMatchObject({ state: 'running', attemptCount: start });
      }
      await world.jobs.submit(sane.create({}));

      const last = runWorker();
      await last.line('sane');
      await last.kill();

      expect(last.stdout()).not.toContain('began');
      expect(await world.job('poison')).toMatchObject({
        state: 'interrupted',
        failureReason: 'instance_restart',
        attemptCount: 3,
      });
      const attempts = await world.jobs.scope('').attempts('poison');
      expect(attempts.map(({ state }) => state)).toEqual(['interrupted', 'interrupted', 'interrupted']);
    });

    test('is held after its first start, unless it may be run again unasked', async () => {
      await world.jobs.submit(poison.create({}, { id: 'poison' }));
      const child = runWorker();
      await child.line('began 1');
      await child.exited;
      await world.jobs.submit(sane.create({}));

      const next = runWorker();
      await next.line('sane');
      await next.kill();

      expect(next.stdout()).not.toContain('began');
      expect(await world.job('poison')).toMatchObject({ state: 'interrupted', attemptCount: 1 });
    });

    function runWorker() {
      return spawnNode('test/engine/programs/dying-worker.ts', [driver, dbNameOf(world.orm)]);
    }
  });

  test('an executor takes what a dead one ran from it, once or recurring, and ends none of it for not knowing its definition', async () => {
    const clock = new ManualClock();
    const world = await World.open(driver, { clock });
    const { store } = world.jobs;
    await world.jobs.submit(foreign.create({}, { id: 'once' }));
    await world.jobs.recurring.upsert('nightly', { cron: '0 3 * * *', job: foreign.create({}) });
    const { id: occurrence } = (await world.jobs.recurring.runNow('nightly'))!;
    const leaseUntil = clock.now() + microsOfMs(1000);
    await store.register({ id: 'dead', name: 'n', host: 'h', leaseUntil, metadata: {} });
    const claimed = await store.claim({ executorId: 'dead', definitions: [foreign], queues: null, limit: 10 });
    expect(claimed.attempts).toHaveLength(2);

    const executor = world.executor([world.jobs.handler(known, () => {})], { lease: '60s', maintenanceInterval: 10 });
    await executor.start();
    clock.advance(2000);
    await until(async () => (await world.job('once')).state !== 'running');
    await until(async () => (await world.job(occurrence)).state !== 'running');
    await executor.stop();

    for (const id of ['once', occurrence]) {
      expect(await world.job(id)).toMatchObject({ state: 'queued', attemptCount: 1, failureCount: 0 });
    }
    const knowing = world.executor([world.jobs.handler(foreign, () => {})], { lease: '60s' });
    await knowing.start();
    for (const id of ['once', occurrence]) {
      await until(async () => (await world.job(id)).state === 'succeeded');
    }
    await world.close();
  });
});
