import { afterEach, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/core/clock.ts';
import { defineJob } from '../../src/core/definition.ts';
import type { Executor } from '../../src/executor/executor.ts';
import { latch } from '../executor/support/latch.ts';
import { untilBlocked } from '../adapter/store/contention.ts';
import { forEachDriver } from '../support/orm.ts';
import { useSeveral } from './support/several.ts';
import { eventually } from './support/wait.ts';

const step = defineJob<object>()({ name: 'step' });
const quiet = { pollInterval: '1h', maintenanceInterval: '1h', concurrency: 4 } as const;

forEachDriver(driver => {
  const { hosts } = useSeveral(driver, 2, { clock: systemClock });
  const executors: Executor<never>[] = [];
  afterEach(async () => void (await Promise.all(executors.splice(0).map(executor => executor.stop()))));

  test.each(['waits for it', 'was staged in it'])(
    'what %s starts when the transaction that settles a job has committed, and no poll is waited for',
    async what => {
      const { jobs, orm } = hosts[0]!;
      const ran: string[] = [];
      // Whoever was told before the commit looks in vain.
      let commits = 0;
      orm.em.getEventManager().registerSubscriber({
        beforeTransactionCommit: async () => {
          commits++;
          await delay(100);
        },
      });
      const child = what === 'was staged in it' ? {} : { after: [{ scope: '', id: 'parent' }] };
      const executor = jobs.executor({
        ...quiet,
        handlers: [
          jobs.handler(step, async job => {
            ran.push(job.id);
            await job.transactional(async em => {
              if (job.id === 'parent' && what === 'was staged in it') {
                await jobs.stage(em, step.create({}, { id: 'child' }));
              }
            });
          }),
        ],
      });
      executors.push(executor as never);
      await executor.start();

      const parent = step.create({}, { id: 'parent' });
      await jobs.submit(what === 'waits for it' ? [parent, step.create({}, { id: 'child', ...child })] : [parent]);

      await eventually(() => ran.length === 2);
      expect(ran).toEqual(['parent', 'child']);
      await eventually(async () => (await jobs.admin.counts()).byState.succeeded === 2);
      expect(commits).toBeGreaterThanOrEqual(2);
    },
  );

  if (driver === 'postgresql') {
    test('what waits for two jobs starts when both settle in transactions that do not see each other', async () => {
      const { jobs, orm } = hosts[0]!;
      const ran: string[] = [];
      let settled = 0;
      // Each transaction has settled its job, and the other one has not committed.
      orm.em.getEventManager().registerSubscriber({
        beforeTransactionCommit: async () => {
          settled++;
          await eventually(() => settled >= 2);
        },
      });
      const executor = jobs.executor({
        ...quiet,
        handlers: [
          jobs.handler(step, async job => {
            ran.push(job.id);
            await job.transactional(async () => {});
          }),
        ],
      });
      executors.push(executor as never);
      await executor.start();

      const after = ['a', 'b'].map(id => ({ scope: '', id }));
      await jobs.submit([
        step.create({}, { id: 'a' }),
        step.create({}, { id: 'b' }),
        step.create({}, { id: 'c', after }),
      ]);

      await eventually(() => ran.includes('c'));
      await eventually(async () => (await jobs.admin.counts()).byState.succeeded === 3);
    });

    test('what is staged while its parent’s transaction commits starts with it', async () => {
      const { jobs, orm } = hosts[0]!;
      const ran: string[] = [];
      const [isSettled, isStaged] = [latch(), latch()];
      orm.em.getEventManager().registerSubscriber({
        beforeTransactionCommit: async () => {
          isSettled.open();
          await isStaged.opened;
        },
      });
      const executor = jobs.executor({
        ...quiet,
        handlers: [
          jobs.handler(step, async job => {
            ran.push(job.id);
            await job.transactional(async () => {});
          }),
        ],
      });
      executors.push(executor as never);
      await executor.start();
      await jobs.submit(step.create({}, { id: 'parent' }));
      await isSettled.opened;

      const [other, after] = [hosts[1]!, [{ scope: '', id: 'parent' }]];
      const staging = other.orm.em
        .fork()
        .transactional(em => other.jobs.stage(em, step.create({}, { id: 'child', after })));
      await untilBlocked(other.orm);
      isStaged.open();
      await staging;

      await eventually(() => ran.includes('child'));
      await eventually(async () => (await jobs.admin.counts()).byState.succeeded === 2);
    });
  }
});
