import { MikroORM } from '@mikro-orm/sqlite';
import { Jobs, jobEntities } from 'mikro-orm-jobs';
import { testJobs } from 'mikro-orm-jobs/testing';
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { sendReceipt } from './jobs.ts';
import { Order } from './order.entity.ts';

let orm: MikroORM;

beforeEach(async () => {
  orm = await MikroORM.init({ dbName: ':memory:', entities: [Order, ...jobEntities] });
  await orm.schema.create();
});

afterEach(() => orm.close(true));

test('an order and its job are committed together, and the executor runs the job', async () => {
  const jobs = new Jobs({ orm });
  const seen = Promise.withResolvers<string>();
  const executor = jobs.executor({
    lease: false,
    handlers: [
      jobs.handler(sendReceipt, async job => {
        const order = await job.em.findOneOrFail(Order, job.payload.orderId);
        seen.resolve(order.item);
      }),
    ],
  });
  await orm.em.fork().transactional(async em => {
    em.create(Order, { id: 1, item: 'book' });
    await jobs.stage(em, sendReceipt.create({ orderId: 1 }));
  });

  await executor.start();
  assert.equal(await seen.promise, 'book');
  await executor.stop();

  assert.deepEqual(await states(), ['succeeded']);
});

test('a rolled-back order leaves no job', async () => {
  const jobs = new Jobs({ orm });
  const work = orm.em.fork().transactional(async em => {
    await jobs.stage(em, sendReceipt.create({ orderId: 2 }));
    throw new Error('card declined');
  });

  await assert.rejects(work, /card declined/);
  assert.deepEqual(await states(), []);
});

test('the testing kit runs what was staged in a transaction that is rolled back', async () => {
  const jobs = new Jobs({ orm });
  const kit = testJobs(jobs);
  const em = orm.em.fork();
  await em.begin();
  await jobs.stage(em, sendReceipt.create({ orderId: 3 }, { delay: '1h' }));
  const staged = await kit.staged(em, sendReceipt);
  kit.clock.advance('1h');
  const result = await kit.drain({ em, handlers: [jobs.handler(sendReceipt, () => {})] });
  await em.rollback();

  assert.deepEqual(
    staged.map(({ payload }) => payload),
    [{ orderId: 3 }],
  );
  assert.deepEqual({ ...result }, { succeeded: 1, failed: 0 });
  assert.deepEqual(await states(), []);
});

async function states(): Promise<string[]> {
  const rows: { state: string }[] = await orm.em.fork().execute('select state from durable_job');

  return rows.map(row => row.state);
}
