import { describe, expect, test } from '@jest/globals';
import { aClaim, aSubmission, useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aJobIn, aRunningJob, dueJobs, stored, succeeded } from './given.ts';

forEachDriver(driver => {
  const on = useJobs(driver);

  describe('a job that is submitted again after it was deleted by hand, but for its attempts', () => {
    test('stops no other: both are claimed', async () => {
      await leftovers('gone');
      await dueJobs(on, [aSubmission({ id: 'other' })]);

      const { attempts } = await on.store.claim(aClaim());

      expect(attempts.map(({ id, attempt }) => [id, attempt]).sort()).toEqual([
        ['gone', 1],
        ['other', 1],
      ]);
      expect((await on.store.settle(attempts.map(attempt => succeeded(attempt)))).map(({ answer }) => answer)).toEqual([
        'settled',
        'settled',
      ]);
      expect((await stored(on, { scope: '', id: 'gone' })).attempts).toMatchObject([
        { ordinal: 1, state: 'succeeded' },
      ]);
    });

    test('is claimed below a cap, and where a hint told of it', async () => {
      await on.jobs.queues.limit('mail', 5);
      await leftovers('gone', 'mail');
      expect((await on.store.claim(aClaim())).attempts).toMatchObject([{ id: 'gone', attempt: 1 }]);

      await leftovers('told', 'letters');
      const lane = { queue: 'letters', name: 'mail.send', version: '1', priority: 0, count: 1 };
      expect((await on.store.claim(aClaim({ lanes: [lane] }))).attempts).toMatchObject([{ id: 'told', attempt: 1 }]);
    });

    test('is started by its key', async () => {
      await leftovers('gone');

      expect(await on.store.tryStart({ scope: '', id: 'gone' }, 'executor-1')).toMatchObject({ attempt: 1 });
    });

    test('costs no attempt of another', async () => {
      const retried = await aJobIn(on, 'failed', { id: 'retried' });
      await on.store.retry(retried, {});
      const running = await aRunningJob(on);
      await leftovers('gone');

      expect((await on.store.claim(aClaim())).attempts).toHaveLength(2);

      expect((await stored(on, retried)).attempts.map(({ state }) => state)).toEqual(['failed', 'running']);
      expect(await on.store.status([running])).toEqual(['active']);
    });
  });

  /** A queued job with the attempts of an earlier one under its identity. */
  async function leftovers(id: string, queue = 'default'): Promise<void> {
    const key = await aJobIn(on, 'failed', { id, queue });
    await on.orm.em.fork().execute(`delete from durable_job where id = ?`, [key.id]);
    await dueJobs(on, [aSubmission({ id, queue })]);
  }
});
