import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Job, JobExecutor, OutboxMessage, jobEntities } from '../../src/entities/index.ts';
import { createOrm, dropOrm, forEachDriver, type TestOrm } from '../support/orm.ts';
import { aJob, anExecutor, anOutboxMessage, insert } from './rows.ts';

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
    for (const table of ['durable_job', 'durable_executor', 'durable_outbox_message']) {
      await orm.em.execute(`delete from ${table}`);
    }
  });
  afterAll(() => dropOrm(orm));

  test.each(Object.entries(texts))('a payload with %s comes back byte for byte', async (_, payload) => {
    await insert(orm, 'durable_job', aJob({ payload, payload_override: payload, metadata: payload }));
    await insert(orm, 'durable_outbox_message', anOutboxMessage({ document: payload }));

    const em = orm.em.fork();
    expect(await em.findOneOrFail(Job, { id: 'job-1' })).toMatchObject({
      payload,
      payloadOverride: payload,
      metadata: payload,
    });
    expect(await em.findOneOrFail(OutboxMessage, 'message-1')).toMatchObject({ document: payload });
  });

  test.each([2 ** 31, 1_790_000_000_123_457, latest])('the instant %d comes back as that number', async instant => {
    await insert(
      orm,
      'durable_job',
      aJob({ created_at: instant, next_run_at: instant, initial_not_before: instant, retry_until: instant }),
    );
    await insert(orm, 'durable_executor', anExecutor({ lease_until: instant }));

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
  });

  test('instants are exact up to 2255', () => {
    expect(Number.isSafeInteger(latest)).toBe(true);
  });
});
