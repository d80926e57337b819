import { expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { AmbientTransactionError } from '../../src/core/errors.ts';
import { systemClock } from '../../src/core/clock.ts';
import { Jobs } from '../../src/jobs.ts';
import { eventually } from '../engine/support/wait.ts';
import { latch } from '../executor/support/latch.ts';
import { Log } from '../executor/support/log.ts';
import { entities } from '../executor/support/world.ts';
import { createOrm, dropOrm, forEachDriver } from '../support/orm.ts';

const outer = defineJob<object>()({ name: 'outer' });
const inner = defineJob<object>()({ name: 'inner' });

forEachDriver(driver => {
  test('with one connection for all, jobs run, report, stage, settle in their transactions and are controlled; nothing waits for ever', async () => {
    const orm = await createOrm(driver, entities, { pool: { min: 0, max: 1 } });
    const log = new Log();
    const jobs = new Jobs({ orm, logger: log, clock: systemClock });
    const [inTransaction, gate] = [latch(), latch()];
    const refusals: unknown[] = [];
    const ran: string[] = [];
    const executor = jobs.executor({
      concurrency: 3,
      pollInterval: '20ms',
      progressInterval: '20ms',
      renewEvery: '20ms',
      maintenanceInterval: '20ms',
      handlers: [
        jobs.handler(outer, async job => {
          job.progress(10);
          await job.em.execute('select 1');
          await job.once('call', { ttl: '1h' }, async () => 'called');
          await job.transactional(async em => {
            await jobs.stage(em, inner.create({}, { id: 'inner' }));
            await jobs.submit(inner.create({})).catch((error: unknown) => refusals.push(error));
            await jobs
              .scope('')
              .get('outer')
              .catch((error: unknown) => refusals.push(error));
            job.progress(90, 'nearly');
            inTransaction.open();
            await gate.opened;
            return 'done';
          });
        }),
        jobs.handler(inner, async job => void ran.push(job.id)),
      ],
    });
    await executor.start();
    await jobs.submit(outer.create({}, { id: 'outer' }));
    await inTransaction.opened;

    // All of them wait for the handler's transaction, and so do the loops.
    const calls = [
      jobs.submit(inner.create({}, { id: 'submitted' })),
      jobs.scope('').cancel('outer'),
      jobs.admin.counts(),
      jobs.health(),
    ];
    const stopping = executor.stop();
    gate.open();
    const [submitted, cancelled] = await Promise.all(calls);
    await stopping;

    expect([submitted, cancelled]).toMatchObject([{ created: true }, 'finished']);
    expect(refusals.map(error => error instanceof AmbientTransactionError)).toEqual([true, true]);
    expect(await jobs.scope('').get('outer')).toMatchObject({
      state: 'succeeded',
      resultRef: 'done',
      progress: 90,
      progressMessage: 'nearly',
    });
    await executor.start();
    await eventually(() => ran.includes('inner') && ran.includes('submitted'));
    await executor.stop();
    const warned = driver === 'postgresql' ? [{ connections: 1, needed: 5 }] : [];
    expect(log.of('pool_too_small').slice(0, 1)).toMatchObject(warned);
    expect(log.entries.filter(({ level }) => level === 'error')).toEqual([]);
    await dropOrm(orm);
  });
});
