import { expect, test } from '@jest/globals';
import { Log } from '../../executor/support/log.ts';
import { aSubmission, sendMail, someSubmissions } from '../../support/builders.ts';
import { dropOrm, forEachDriver, mikroOrmMajor } from '../../support/orm.ts';
import { createHost, jobIds, sentDuring, untilBlocked, type Host, type HostOptions } from './host.ts';

forEachDriver(driver => {
  test('beside a bare begin() on the only connection, submit() gives up, and nothing is inserted later', async () => {
    const host = await createHost(driver, oneConnection());
    const em = host.orm.em.fork();
    await em.begin();

    await expect(host.jobs.submit(aSubmission({ id: 'single' }))).rejects.toMatchObject(gaveUp);
    await expect(host.jobs.submit(someSubmissions(3))).rejects.toMatchObject(gaveUp);

    await host.jobs.stage(em, aSubmission({ id: 'staged' }));
    await em.commit();
    await everythingSent(host);
    expect(await jobIds(host)).toEqual(['staged']);
    await dropOrm(host.orm);
  });

  test('beside a bare begin() on the only connection, every other call gives up as well, and works afterwards', async () => {
    const { jobsOptions, ...pool } = oneConnection();
    const host = await createHost(driver, { ...pool, jobsOptions: { ...jobsOptions, logger: new Log() } });
    const { jobs } = host;
    const executor = jobs.executor({ handlers: [jobs.handler(sendMail, () => {})] });
    await jobs.submit(aSubmission({ id: 'job-1' }));
    const calls: Array<[of: string, call: () => Promise<unknown>]> = [
      ['jobs.scope()', () => jobs.scope('').get('job-1')],
      ['jobs.scope()', () => jobs.scope('').attempts('job-1')],
      ['jobs.scope()', () => jobs.scope('').list()],
      ['jobs.scope()', () => jobs.scope('').runNow('job-1')],
      ['jobs.scope()', () => jobs.scope('').cancel('job-1')],
      ['jobs.scope()', () => jobs.scope('').retry('job-1')],
      ['jobs.admin', () => jobs.admin.counts()],
      ['jobs.admin', () => jobs.admin.lag()],
      ['jobs.admin', () => jobs.admin.cancelAll({}, { limit: 10 })],
      ['jobs.queues', () => jobs.queues.pause('default')],
      ['jobs.queues', () => jobs.queues.list()],
      ['jobs.recurring', () => jobs.recurring.upsert('r', { cron: '0 0 1 1 *', job: aSubmission() })],
      ['jobs.recurring', () => jobs.recurring.resume('r')],
      ['jobs.recurring', () => jobs.recurring.runNow('r')],
      ['executor.start()', () => executor.start()],
    ];
    const em = host.orm.em.fork();
    await em.begin();

    const outcomes = await Promise.allSettled(calls.map(([, call]) => call()));
    expect(outcomes).toEqual(
      calls.map(([of]) => ({
        status: 'rejected',
        reason: expect.objectContaining({
          code: 'CONNECTION_TIMEOUT',
          message: expect.stringContaining(`${of} got no connection in time`),
        }),
      })),
    );

    await em.commit();
    await everythingSent(host);
    expect(await jobs.scope('').get('job-1')).toMatchObject({ state: 'queued', revision: 1 });
    for (const [, call] of calls) await call();
    await executor.stop();
    await dropOrm(host.orm);
  });

  // MikroORM 6 waits for its pool within the statement, and logs it.
  if (mikroOrmMajor === 7) {
    test('what it gave up is not in the log of the ORM either', async () => {
      const host = await createHost(driver, oneConnection());
      await host.jobs.submit(aSubmission());
      const em = host.orm.em.fork();
      await em.begin();

      const sent = await sentDuring(host, async () => {
        await expect(host.jobs.submit(aSubmission())).rejects.toMatchObject(gaveUp);
        await em.commit();
        await everythingSent(host);
      });

      expect(sent.filter(statement => statement.includes('insert into'))).toEqual([]);
      await dropOrm(host.orm);
    });
  }

  test('after it gave up, the same submission can be submitted', async () => {
    const host = await createHost(driver, oneConnection());
    const submission = aSubmission({ id: 'job-1' });
    const em = host.orm.em.fork();
    await em.begin();
    await expect(host.jobs.submit(submission)).rejects.toMatchObject(gaveUp);
    await em.rollback();

    expect(await host.jobs.submit(submission)).toMatchObject({ created: true, matched: 'none' });
    expect(await host.jobs.submit(submission)).toMatchObject({ created: false, matched: 'identity' });
    await dropOrm(host.orm);
  });

  test('a transaction that ends in time is waited for', async () => {
    const host = await createHost(driver, { pool: { min: 0, max: 1 } });
    const em = host.orm.em.fork();
    await em.begin();

    const submitted = host.jobs.submit(aSubmission({ id: 'job-1' }));
    await em.commit();

    expect(await submitted).toMatchObject({ created: true });
    await dropOrm(host.orm);
  });

  test('stage() needs no connection beside that of its transaction', async () => {
    const host = await createHost(driver, oneConnection());
    const submission = aSubmission({ id: 'job-1' });

    await host.orm.em.fork().transactional(async em => {
      await host.jobs.stage(em, [submission, aSubmission({ id: 'job-2' })]);
      await em.transactional(inner => host.jobs.stage(inner, submission));
    });

    expect(await jobIds(host)).toEqual(['job-1', 'job-2']);
    await dropOrm(host.orm);
  });

  if (driver === 'postgresql') {
    test.each([1, 3])('a lock is waited for longer than a connection: submit() of %i jobs has one', async count => {
      const host = await createHost(driver, { jobsOptions: { connectionTimeout: 400 } });
      const submissions = someSubmissions(count);
      const em = host.orm.em.fork();
      await em.begin();
      await host.jobs.stage(em, submissions);
      await fillPool(host);

      const submitted = host.jobs.submit(submissions);
      await Promise.race([submitted, untilBlocked(host)]);
      await timeLimitPassed(500);
      await em.rollback();

      expect((await submitted).map(({ created }) => created)).toEqual(submissions.map(() => true));
      await dropOrm(host.orm);
    });
  }
});

const gaveUp = {
  code: 'CONNECTION_TIMEOUT',
  message: expect.stringMatching(/^submit\(\) got no connection in time.*`stage\(\)`/),
};

/** MikroORM 7 is told by `Jobs` how long to wait, 6 by its pool. */
function oneConnection(): HostOptions {
  return mikroOrmMajor === 7
    ? { pool: { min: 0, max: 1 }, jobsOptions: { connectionTimeout: 1000 } }
    : { pool: { min: 0, max: 1, acquireTimeoutMillis: 1000 } as object };
}

/** One connection does one thing after the other: when this is answered, what had been waiting has been sent. */
async function everythingSent({ orm }: Host): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await orm.em.fork().execute('select 1');
}

/** Connections that are there already, so that opening one takes no part in the test. */
async function fillPool({ orm }: Host): Promise<void> {
  await Promise.all([1, 2, 3].map(() => orm.em.fork().execute('select 1')));
}

/** The only wait for a clock here: it shows that this clock doesn't matter. */
function timeLimitPassed(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
