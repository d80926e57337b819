import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Job, JobExecutor, JobQueue, OutboxMessage, RecurringJob, jobEntities } from '../../src/entities/index.ts';
import { createOrm, dropOrm, forEachDriver, type TestOrm } from '../support/orm.ts';
import { aJob, anExecutor, anOutboxMessage, aQueue, aRecurringJob, insert } from './rows.ts';

const texts = {
  'key order': '{"b":1,"a":2,"10":3,"2":4}',
  'white space': '{ "a" :\t1,\n\n"b": [ ] }\n',
  'a number beyond 2^53': '{"n":9007199254740993}',
  'a repeated member': '{"a":1,"a":2}',
  'quotes, back-slashes and question marks': `{"q":"it's ? and :a and \\\\ and \\u0041 and $1 \`\\""}`,
  'scripts, emoji and both ways to write é': '{"t":"租户 \u00e9 e\u0301 🏭 \u2028"}',
  'a bare string': '"2026-11-30T00:00:00.000Z"',
  'a megabyte': JSON.stringify('x'.repeat(1_000_000 - 2)),
};

/** 2255, the last instant that the library takes, in microseconds. */
const latest = Date.UTC(2255, 0, 1) * 1000;

forEachDriver(driver => {
  let orm: TestOrm;
  beforeAll(async () => void (orm = await createOrm(driver, jobEntities)));
  beforeEach(async () => {
    for (const schema of jobEntities) await orm.em.execute(`delete from ${schema.meta.tableName}`);
  });
  afterAll(() => dropOrm(orm));

  test.each(Object.entries(texts))('a payload with %s comes back byte for byte', async (_, payload) => {
    await insert(orm, 'durable_job', aJob({ payload, payload_override: payload, metadata: payload }));
    await insert(orm, 'durable_outbox_message', anOutboxMessage({ document: payload }));
    await insert(orm, 'durable_recurring_job', aRecurringJob({ payload, metadata: payload }));

    const em = orm.em.fork();
    expect(await em.findOneOrFail(Job, { id: 'job-1' })).toMatchObject({
      payload,
      payloadOverride: payload,
      metadata: payload,
    });
    expect(await em.findOneOrFail(OutboxMessage, 'message-1')).toMatchObject({ document: payload });
    expect(await em.findOneOrFail(RecurringJob, { id: 'nightly' })).toMatchObject({ payload, metadata: payload });
  });

  test.each([2 ** 31, 1_790_000_000_123_457, latest])('the instant %d comes back as that number', async instant => {
    await insert(
      orm,
      'durable_job',
      aJob({ created_at: instant, next_run_at: instant, initial_not_before: instant, retry_until: instant }),
    );
    await insert(orm, 'durable_executor', anExecutor({ lease_until: instant }));
    await insert(orm, 'durable_recurring_job', aRecurringJob({ next_fire_at: instant, last_fire_at: instant }));

    const em = orm.em.fork();
    expect(await em.findOneOrFail(Job, { createdAt: instant })).toMatchObject({
      createdAt: instant,
      nextRunAt: instant,
      initialNotBefore: instant,
      retryUntil: instant,
    });
    expect(await em.findOneOrFail(JobExecutor, { leaseUntil: { $gte: instant } })).toMatchObject({
      leaseUntil: instant,
    });
    expect(await em.findOneOrFail(RecurringJob, { nextFireAt: instant })).toMatchObject({
      nextFireAt: instant,
      lastFireAt: instant,
    });
  });

  test('`paused` is a boolean to the host, and one condition in SQL on every database', async () => {
    await insert(orm, 'durable_job_queue', aQueue({ name: 'parameter', paused: true }));
    await insert(orm, 'durable_job_queue', aQueue({ name: 'open', paused: false }));
    await orm.em.execute(`insert into durable_job_queue (name, paused, updated_at) values ('literal', true, 1)`);

    expect(await orm.em.execute('select name from durable_job_queue where paused order by name')).toEqual([
      { name: 'literal' },
      { name: 'parameter' },
    ]);
    expect(await orm.em.execute('select name from durable_job_queue where not paused')).toEqual([{ name: 'open' }]);
    expect(await orm.em.fork().find(JobQueue, { paused: false })).toEqual([
      expect.objectContaining({ name: 'open', paused: false, maxRunning: null }),
    ]);
  });

  test('instants are exact up to 2255', () => {
    expect(Number.isSafeInteger(latest)).toBe(true);
  });
});
