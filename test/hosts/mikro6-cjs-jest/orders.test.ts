import { MikroORM } from '@mikro-orm/sqlite';
import { Jobs, jobEntities } from 'mikro-orm-jobs';
import { testJobs } from 'mikro-orm-jobs/testing';
import timers from 'node:timers/promises';
import { sendReceipt } from './jobs';
import { Order, orderSchema } from './order.entity';

let orm: MikroORM;

beforeEach(async () => {
  orm = await MikroORM.init({ dbName: ':memory:', entities: [orderSchema, ...jobEntities] });
  await orm.schema.createSchema();
});

afterEach(() => orm.close(true));

test('an order and its job are committed together, and the executor runs the job', async () => {
  const jobs = new Jobs({ orm });
  let handled!: (item: string) => void;
  const seen = new Promise<string>(resolve => (handled = resolve));
  const executor = jobs.executor({
    lease: false,
    handlers: [
      jobs.handler(sendReceipt, async job => {
        const order = await job.em.findOneOrFail(Order, job.payload.orderId);
        handled(order.item);
      }),
    ],
  });
  await orm.em.fork().transactional(async em => {
    em.create(Order, { id: 1, item: 'book' });
    await jobs.stage(em, sendReceipt.create({ orderId: 1 }));
  });

  await executor.start();
  expect(await seen).toBe('book');
  await executor.stop();

  expect(await states()).toEqual(['succeeded']);
});

test('a rolled-back order leaves no job', async () => {
  const jobs = new Jobs({ orm });
  const work = orm.em.fork().transactional(async em => {
    await jobs.stage(em, sendReceipt.create({ orderId: 2 }));
    throw new Error('card declined');
  });

  await expect(work).rejects.toThrow('card declined');
  expect(await states()).toEqual([]);
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

  expect(staged).toMatchObject([{ payload: { orderId: 3 } }]);
  expect(result).toEqual({ succeeded: 1, failed: 0 });
  expect(await states()).toEqual([]);
});

test('jobs are submitted and run while a test stops the turns of Node', async () => {
  const jobs = new Jobs({ orm });
  const executor = jobs.executor({ lease: false, handlers: [jobs.handler(sendReceipt, () => {})] });
  const stopped = jest.spyOn(timers, 'setImmediate').mockReturnValue(new Promise(() => {}));

  const [{ job }] = await jobs.submit([sendReceipt.create({ orderId: 4 }), sendReceipt.create({ orderId: 5 })]);
  await executor.start();
  await jobs.scope('').wait(job.id, { timeout: '10s' });
  await executor.stop();
  stopped.mockRestore();

  expect(await states()).toEqual(['succeeded', 'succeeded']);
});

async function states(): Promise<string[]> {
  const rows: { state: string }[] = await orm.em.fork().execute('select state from durable_job');

  return rows.map(row => row.state);
}
