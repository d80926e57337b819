import { expect, test } from '@jest/globals';
import { MemoryJobs } from '../../src/memory/index.ts';
import { testJobs } from '../../src/testing/index.ts';
import { Log } from '../executor/support/log.ts';
import { charge, step } from './shop.ts';

test('jobs in memory are staged, drained and moved in time likewise', async () => {
  const jobs = new MemoryJobs({ logger: new Log() });
  const kit = testJobs(jobs);
  const ran: string[] = [];
  const handlers = [
    jobs.handler(step, async job => {
      ran.push(job.payload.label);
      if (job.attempt === 1 && job.payload.label === 'fails once') throw new Error('busy');
      await job.transactional(async () => 'done');
    }),
  ];
  await jobs.submit([
    step.create({ label: 'fails once' }, { id: 'a' }),
    step.create({ label: 'later' }, { delay: '1h' }),
    step.create({ label: 'urgent' }, { priority: 1 }),
    charge.create({ orderId: '1', due: '2026-12-01' }),
  ]);

  expect(await kit.staged(undefined, charge)).toMatchObject([{ payload: { due: new Date('2026-12-01') } }]);
  expect((await kit.staged(undefined)).map(({ state }) => state)).toEqual(['queued', 'queued', 'queued', 'queued']);
  expect(await kit.drain({ handlers })).toMatchObject({ succeeded: 1, rescheduled: 1 });
  kit.clock.advance('1h');
  expect(await kit.drain({ handlers })).toEqual({ succeeded: 2, failed: 0 });
  expect(ran).toEqual(['urgent', 'fails once', 'fails once', 'later']);
});

test('a cancel in memory reaches the signal of the handler that runs', async () => {
  const jobs = new MemoryJobs({ logger: new Log() });
  await jobs.submit(step.create({ label: 'a' }, { id: 'a' }));

  const result = await testJobs(jobs).drain({
    handlers: [
      jobs.handler(step, async job => {
        await jobs.scope('').cancel('a');
        job.signal.throwIfAborted();
      }),
    ],
  });

  expect(result).toEqual({ succeeded: 0, failed: 0, cancelled: 1 });
});
