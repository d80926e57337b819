import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DriverException } from '@mikro-orm/core';
import { defineJob } from '../../src/core/definition.ts';
import { eventually } from '../engine/support/wait.ts';
import { aborted, latch } from '../executor/support/latch.ts';
import type { Executor } from '../../src/executor/executor.ts';
import type { JobSnapshot } from '../../src/core/snapshot.ts';
import type { World } from '../executor/support/world.ts';
import { forEachDriver } from '../support/orm.ts';
import { outagesOf, type Outage } from './support/outage.ts';

const work = defineJob<object>()({ name: 'work', onInterrupt: 'requeue' });
const held = defineJob<object>()({ name: 'held', onInterrupt: 'hold' });

const loops = {
  pollInterval: '200ms',
  progressInterval: '50ms',
  renewEvery: '200ms',
  clockSkew: '50ms',
  maintenanceInterval: '200ms',
} as const;

forEachDriver(driver => {
  describe.each(outagesOf(driver))('a database that $title', ({ open, hangs = false }) => {
    let outage: Outage;
    let world: World;
    let statements = 0;
    const unhandled: unknown[] = [];
    const catchUnhandled = (error: unknown) => void unhandled.push(error);
    beforeEach(async () => {
      unhandled.length = 0;
      process.on('unhandledRejection', catchUnhandled);
      outage = await open(() => void statements++);
      world = outage.world;
    });
    afterEach(async () => {
      await world.close();
      await outage.close();
      process.off('unhandledRejection', catchUnhandled);
      expect(unhandled).toEqual([]);
    });

    test('for less than a lease costs nothing: what ended meanwhile is written, no attempt is spent, and the log says it once', async () => {
      const gate = latch();
      let running = 0;
      await world.jobs.submit(['a', 'b', 'c', 'later'].map(id => work.create({}, { id })));
      const handler = world.jobs.handler(work, async () => {
        running++;
        await gate.opened;
      });
      const executor = world.executor([handler], { ...loops, lease: '10m', concurrency: 3 });
      await executor.start();
      await eventually(() => running === 3);

      await outage.begin();
      statements = 0;
      const beganAt = performance.now();
      gate.open();
      const failing = hangs ? [] : ['settle', 'claim', 'renew'];
      await eventually(() => failing.every(loop => world.log.of(`${loop}_failed`).length > 0));
      await eventually(() => performance.now() - beganAt > 1500);
      const perMs = statements / (performance.now() - beganAt);
      await outage.end();

      for (const id of ['a', 'b', 'c', 'later']) {
        expect(await ended(id)).toMatchObject({ state: 'succeeded', attemptCount: 1 });
      }
      await eventually(() => failing.every(loop => world.log.of(`${loop}_recovered`).length > 0));
      await executor.stop();
      expect(perMs).toBeLessThan(0.5);
      const counts = failing.map(loop => ['failed', 'recovered'].map(how => world.log.of(`${loop}_${how}`).length));
      expect(counts).toEqual(failing.map(() => [1, 1]));
      expect(world.log.of('lease_lost')).toEqual([]);
      expect(world.log.of('attempt_lost')).toEqual([]);
    });

    test('for longer than a lease costs what ran: its signal fires, each job goes by its onInterrupt, and the executor goes on', async () => {
      const reasons: unknown[] = [];
      const ran: string[] = [];
      const handler = (definition: typeof work | typeof held) =>
        world.jobs.handler(definition, async job => {
          ran.push(`${job.id}/${job.attempt}`);
          if (job.id !== 'after' && job.attempt === 1) {
            await aborted(job.signal).catch((reason: unknown) => reasons.push(reason));
          }
        });
      await world.jobs.submit([work.create({}, { id: 'requeue' }), held.create({}, { id: 'hold' })]);
      const executor = world.executor([handler(work), handler(held)], { ...loops, lease: '3s' });
      await executor.start();
      await eventually(() => ran.length === 2);
      const [before] = await world.jobs.admin.executors();

      await outage.begin();
      await eventually(() => reasons.length === 2);
      await outage.end();

      expect(await ended('requeue')).toMatchObject({ state: 'succeeded', attemptCount: 2, failureCount: 0 });
      expect(await ended('hold')).toMatchObject({ state: 'interrupted', failureReason: 'lease_lapsed' });
      await world.jobs.submit(work.create({}, { id: 'after' }));
      await eventually(() => ran.includes('after/1'));
      const executors = await world.jobs.admin.executors();
      await executor.stop();
      expect(reasons).toMatchObject([{ why: 'lost' }, { why: 'lost' }]);
      expect(executors.map(({ id }) => id)).not.toContain(before!.id);
    });

    test('does not hold up a stop: what could not be written is left to the recovery of others', async () => {
      const gate = latch();
      let running = 0;
      await world.jobs.submit(['ended', 'deaf'].map(id => work.create({}, { id })));
      const handler = world.jobs.handler(work, async job => {
        running++;
        if (job.attempt === 1) await (job.id === 'ended' ? gate.opened : new Promise(() => {}));
      });
      const options = { ...loops, lease: '1s', drainTimeout: '200ms', abortGrace: '100ms' } as const;
      const executor = world.executor([handler], options);
      await executor.start();
      await eventually(() => running === 2);

      await outage.begin();
      gate.open();
      await executor.stop();

      expect([...world.log.of('stop_incomplete'), ...world.log.of('executor_stopped')]).toHaveLength(1);
      await outage.end();
      await started(world.executor([handler], options));
      expect(await ended('ended')).toMatchObject({ state: 'succeeded' });
      expect(await ended('deaf')).toMatchObject({ state: 'succeeded', attemptCount: 2 });
    });

    /** The pool may still hold connections that were cut when the outage ended: who meets one tries again. */
    const ended = (id: string): Promise<JobSnapshot> =>
      eventually(async () => {
        const job = await world.job(id).catch(() => null);
        return job !== null && job.finishedAt !== null && job;
      }) as Promise<JobSnapshot>;

    const started = <Em>(executor: Executor<Em>): Promise<unknown> =>
      eventually(() =>
        executor.start().then(
          () => true,
          () => false,
        ),
      );

    if (!hangs) {
      test('refuses a start with what it says itself, and that leaves nothing: the next start works', async () => {
        const ran = latch();
        await world.jobs.submit(work.create({}, { id: 'a' }));
        const executor = world.executor([world.jobs.handler(work, async () => ran.open())], { ...loops, lease: '10m' });
        await outage.begin();

        const refusal: unknown = await executor.start().catch((error: unknown) => error);

        expect(refusal).toBeInstanceOf(DriverException);
        expect(world.log.of('executor_started')).toEqual([]);
        await outage.end();
        await started(executor);
        await ran.opened;
        expect(await world.jobs.admin.executors()).toHaveLength(1);
      });
    }
  });
});
