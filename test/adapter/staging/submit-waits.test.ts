import { expect, test } from '@jest/globals';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { dropOrm, forEachDriver, mikroOrmMajor } from '../../support/orm.ts';
import { createHost, jobIds, untilBlocked, type Host, type HostOptions } from './host.ts';

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

  if (driver === 'postgresql') {
    test.each([1, 3])('a lock is waited for longer than a connection: submit() of %i jobs has one', async count => {
      const host = await createHost(driver, { jobsOptions: { connectionTimeout: 50 } });
      const submissions = someSubmissions(count);
      const em = host.orm.em.fork();
      await em.begin();
      await host.jobs.stage(em, submissions);

      const submitted = host.jobs.submit(count === 1 ? submissions.slice(0, 1) : submissions);
      submitted.catch(() => {});
      await untilBlocked(host);
      await new Promise(resolve => setTimeout(resolve, 100)); // the time that must not matter
      await em.rollback();

      expect((await submitted).map(({ created }) => created)).toEqual(submissions.map(() => true));
      await dropOrm(host.orm);
    });
  }
});

const gaveUp = {
  code: 'CONNECTION_TIMEOUT',
  message: expect.stringMatching(/^submit\(\) got no connection in time.*Use `stage\(\)` there/),
};

/** MikroORM 7 is told by `Jobs` how long to wait, 6 by its pool. */
function oneConnection(): HostOptions {
  return mikroOrmMajor === 7
    ? { pool: { min: 0, max: 1 }, jobsOptions: { connectionTimeout: 50 } }
    : { pool: { min: 0, max: 1, acquireTimeoutMillis: 500 } as object };
}

/** One connection does one thing after the other: when this is answered, what had been waiting has been sent. */
async function everythingSent({ orm }: Host): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await orm.em.fork().execute('select 1');
}
