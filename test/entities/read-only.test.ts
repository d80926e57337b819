import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { defineEntity, p } from '@mikro-orm/core';
import {
  IdempotencyClaim,
  InboxMessage,
  Job,
  JobAttempt,
  JobDependency,
  JobExecutor,
  JobQueue,
  OutboxMessage,
  ReadOnlyEntityError,
  RecurringJob,
  jobEntities,
} from '../../src/entities/index.ts';
import { createOrm, dropOrm, forEachDriver, type TestOrm } from '../support/orm.ts';
import {
  aDependency,
  aJob,
  anAttempt,
  anExecutor,
  anIdempotencyClaim,
  anInboxMessage,
  anOutboxMessage,
  aQueue,
  aRecurringJob,
  insert,
  type Row,
} from './rows.ts';

class Order {
  id!: string;
  note!: string | null;
}

const orderSchema = defineEntity({
  class: Order,
  tableName: 'order_',
  properties: { id: p.string().primary(), note: p.string().nullable() },
});

interface ReadOnly {
  readonly table: string;
  readonly entity: new () => object;
  readonly key: string;
  readonly change: object;
  readonly row: Row;
}

const cancelled = { state: 'cancelled' };
const paused = { paused: true };
const entities: ReadOnly[] = [
  { table: 'durable_job', entity: Job, key: 'id', change: cancelled, row: aJob() },
  { table: 'durable_job_attempt', entity: JobAttempt, key: 'jobId', change: cancelled, row: anAttempt() },
  {
    table: 'durable_job_dependency',
    entity: JobDependency,
    key: 'jobId',
    change: { parentId: 'forged' },
    row: aDependency(),
  },
  { table: 'durable_executor', entity: JobExecutor, key: 'id', change: cancelled, row: anExecutor() },
  { table: 'durable_job_queue', entity: JobQueue, key: 'name', change: paused, row: aQueue() },
  { table: 'durable_recurring_job', entity: RecurringJob, key: 'id', change: paused, row: aRecurringJob() },
  {
    table: 'durable_idempotency_claim',
    entity: IdempotencyClaim,
    key: 'ownerJobId',
    change: { ownerToken: 'forged' },
    row: anIdempotencyClaim(),
  },
  { table: 'durable_inbox_message', entity: InboxMessage, key: 'consumer', change: cancelled, row: anInboxMessage() },
  { table: 'durable_outbox_message', entity: OutboxMessage, key: 'id', change: cancelled, row: anOutboxMessage() },
];

forEachDriver(driver => {
  let orm: TestOrm;
  beforeAll(async () => void (orm = await createOrm(driver, [orderSchema, ...jobEntities])));
  beforeEach(async () => {
    for (const { table, row } of [...entities, { table: 'order_', row: { id: 'order-1' } }]) {
      await orm.em.execute(`delete from ${table}`);
      await insert(orm, table, row);
    }
  });
  afterAll(() => dropOrm(orm));

  test('the host finds jobs by their class', async () => {
    const [found] = await orm.em.fork().find(Job, { state: 'queued', nextRunAt: { $lte: 1_790_000_000_000_000 } });

    expect(found).toBeInstanceOf(Job);
    expect(found).toMatchObject({ id: 'job-1', scope: 'acme', nextRunAt: 1_790_000_000_000_000, finishedAt: null });
  });

  test.each(entities)(
    'a flush passes over a changed row of $table and writes what else changed',
    async ({ table, entity, key, change }) => {
      const em = orm.em.fork();
      const before = await orm.em.execute(`select * from ${table}`);
      Object.assign(await em.findOneOrFail(entity, { [key]: { $ne: '' } }), change);
      (await em.findOneOrFail(Order, 'order-1')).note = 'changed';

      await em.flush();

      expect(await orm.em.execute(`select * from ${table}`)).toEqual(before);
      expect(await notes(orm)).toEqual(['changed']);
    },
  );

  test.each(entities)('a flush passes over a new row of $table', async ({ table, entity, key }) => {
    const em = orm.em.fork();
    const stored = await em.findOneOrFail(entity, { [key]: { $ne: '' } });
    em.persist(Object.assign(new entity(), stored, { [key]: 'forged' }));

    await em.flush();

    expect(await orm.em.execute(`select * from ${table}`)).toHaveLength(1);
  });

  test.each(entities)(
    'a flush that removes a row of $table fails and writes nothing',
    async ({ table, entity, key }) => {
      const em = orm.em.fork();
      (await em.findOneOrFail(Order, 'order-1')).note = 'changed';
      em.remove(await em.findOneOrFail(entity, { [key]: { $ne: '' } }));

      await expect(em.flush()).rejects.toThrow(ReadOnlyEntityError);

      expect(await orm.em.execute(`select * from ${table}`)).toHaveLength(1);
      expect(await notes(orm)).toEqual([null]);
    },
  );

  test('a reference is not removed either', async () => {
    const em = orm.em.fork();
    em.remove(em.getReference(Job, ['a'.repeat(64), 'job-1']));

    await expect(em.flush()).rejects.toMatchObject({ code: 'READ_ONLY_ENTITY', entity: 'DurableJob' });

    expect(await orm.em.execute('select id from durable_job')).toEqual([{ id: 'job-1' }]);
  });
});

async function notes(orm: TestOrm): Promise<unknown[]> {
  const rows: { note: string | null }[] = await orm.em.fork().execute('select note from order_');

  return rows.map(({ note }) => note);
}
