import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { defineEntity, p } from '@mikro-orm/core';
import { Job, JobExecutor, ReadOnlyEntityError, jobEntities } from '../../src/entities/index.ts';
import { createOrm, dropOrm, forEachDriver, type TestOrm } from '../support/orm.ts';
import { aJob, anExecutor, insert } from './rows.ts';

class Order {
  id!: string;
  note!: string | null;
}

const orderSchema = defineEntity({
  class: Order,
  tableName: 'order_',
  properties: { id: p.string().primary(), note: p.string().nullable() },
});

forEachDriver(driver => {
  let orm: TestOrm;
  beforeAll(async () => void (orm = await createOrm(driver, [orderSchema, ...jobEntities])));
  beforeEach(async () => {
    await orm.em.execute('delete from durable_job');
    await orm.em.execute('delete from durable_executor');
    await orm.em.execute('delete from order_');
    await insert(orm, 'durable_job', aJob());
    await insert(orm, 'durable_executor', anExecutor());
    await insert(orm, 'order_', { id: 'order-1' });
  });
  afterAll(() => dropOrm(orm));

  test('the host finds jobs by their class', async () => {
    const [found] = await orm.em.fork().find(Job, { state: 'queued', nextRunAt: { $lte: 1_790_000_000_000_000 } });

    expect(found).toBeInstanceOf(Job);
    expect(found).toMatchObject({ id: 'job-1', scope: 'acme', nextRunAt: 1_790_000_000_000_000, finishedAt: null });
  });

  test('a flush passes over a changed job and writes what else changed', async () => {
    const em = orm.em.fork();
    const job = await em.findOneOrFail(Job, { id: 'job-1' });
    const order = await em.findOneOrFail(Order, 'order-1');
    job.state = 'cancelled';
    job.payload = '"forged"';
    order.note = 'changed';

    await em.flush();

    expect(await stored(orm)).toMatchObject({ state: 'queued', payload: '{}', revision: 0 });
    expect(await orm.em.execute('select note from order_')).toEqual([{ note: 'changed' }]);
  });

  test('a flush passes over a new executor', async () => {
    const em = orm.em.fork();
    const forged = { id: 'executor-2', name: 'forged', host: 'beta', state: 'active' as const, startedAt: 1 };
    em.persist(em.create(JobExecutor, { ...forged, leaseUntil: null, metadata: null }));

    await em.flush();

    expect(await orm.em.execute('select id from durable_executor')).toEqual([{ id: 'executor-1' }]);
  });

  describe.each([
    ['a loaded job', async (em: TestOrm['em']) => em.remove(await em.findOneOrFail(Job, { id: 'job-1' }))],
    ['a reference to a job', async (em: TestOrm['em']) => em.remove(em.getReference(Job, ['a'.repeat(64), 'job-1']))],
  ])('removing %s', (_, remove) => {
    test('fails the flush, and nothing of it is written', async () => {
      const em = orm.em.fork();
      (await em.findOneOrFail(Order, 'order-1')).note = 'changed';
      await remove(em);

      await expect(em.flush()).rejects.toThrow(ReadOnlyEntityError);

      expect(await stored(orm)).toMatchObject({ state: 'queued' });
      expect(await orm.em.execute('select note from order_')).toEqual([{ note: null }]);
    });
  });
});

async function stored(orm: TestOrm) {
  return orm.em.fork().execute(`select * from durable_job where id = 'job-1'`, [], 'get');
}
