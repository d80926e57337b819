import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aSubmission, createJobs, type TestJobs } from '../../support/builders.ts';
import { dropOrm, forEachDriver, type Driver } from '../../support/orm.ts';

/** A trigger of the host's that skips the updates of jobs. */
const skipping: Record<Driver, string[]> = {
  sqlite: ['create trigger guard before update on durable_job begin select raise(ignore); end'],
  postgresql: [
    `create function guard() returns trigger language plpgsql as 'begin return null; end'`,
    'create trigger guard before update on durable_job for each row execute function guard()',
  ],
};

forEachDriver(driver => {
  let on: TestJobs;
  beforeAll(async () => {
    on = await createJobs(driver);
    await on.jobs.submit([aSubmission({ id: 'queued' }), aSubmission({ id: 'failed' })]);
    await on.orm.em
      .fork()
      .execute(`update durable_job set state = 'failed', finished_at = 1, attempt_count = 1 where id = 'failed'`);
    for (const statement of skipping[driver]) await on.orm.em.fork().execute(statement);
  });
  afterAll(() => dropOrm(on.orm));

  test.each([
    ['cancel', 'queued'],
    ['runNow', 'queued'],
    ['retry', 'failed'],
  ] as const)('%s() of a job whose updates the database skips ends with an error that says so', async (call, id) => {
    await expect(on.jobs.scope('')[call](id)).rejects.toMatchObject({
      code: 'UPDATE_REFUSED',
      key: { scope: '', id },
      message: expect.stringContaining('a trigger or a rule'),
    });
  });
});
