import { describe, expect, test } from '@jest/globals';
import type { Submission } from '../../../src/core/submission.ts';
import type { StageResult } from '../../../src/core/snapshot.ts';
import { aSubmission, buildReport } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { jobIds, sentDuring, untilBlocked, useHost, type Host } from './host.ts';

const ways: { title: string; send: (host: Host, batch: readonly Submission[]) => Promise<StageResult[]> }[] = [
  { title: 'submit()', send: ({ jobs }, batch) => jobs.submit(batch) },
  {
    title: 'stage()',
    send: ({ orm, jobs }, batch) => orm.em.fork().transactional(em => jobs.stage(em, batch)),
  },
];

const keyed = (id: string, uniqueKey = 'key-1', more = {}) => aSubmission({ id, uniqueKey, ...more });
const told = (results: readonly StageResult[]) => results.map(({ job, matched }) => `${job.id} ${matched}`);

forEachDriver(driver => {
  const host = useHost(driver);

  describe.each(ways)('by $title', ({ send }) => {
    test('a key that an active job holds is answered with that job, whatever else was asked for', async () => {
      await send(host, [keyed('first')]);

      const results = await send(host, [keyed('second', 'key-1', { definition: buildReport, payload: 'other' })]);

      expect(results).toEqual([{ created: false, matched: 'uniqueKey', job: await host.jobs.scope('').get('first') }]);
      expect(await jobIds(host)).toEqual(['first']);
    });

    test('identity is judged before the key', async () => {
      await send(host, [keyed('first'), keyed('second', 'key-2')]);

      expect(told(await send(host, [keyed('first')]))).toEqual(['first identity']);
      expect(told(await send(host, [keyed('first', 'key-2')]))).toEqual(['first identity']);
      await expect(send(host, [keyed('first', 'key-2', { payload: 'other' })])).rejects.toMatchObject({
        code: 'JOB_IDENTITY_CONFLICT',
      });
    });

    test('a finished job has given its key back', async () => {
      await send(host, [keyed('first')]);
      await host.jobs.scope('').cancel('first');

      expect(told(await send(host, [keyed('second')]))).toEqual(['second none']);
      expect(told(await send(host, [keyed('third')]))).toEqual(['second uniqueKey']);
    });

    test('a finished job that is retried does not take its key from the one that has it now', async () => {
      await send(host, [keyed('first')]);
      await host.jobs.scope('').cancel('first');
      await send(host, [keyed('second')]);
      await host.jobs.scope('').retry('first');

      expect(told(await send(host, [keyed('third')]))).toEqual(['second uniqueKey']);
    });

    test('each scope has its own keys, however scope and key are cut', async () => {
      const submissions = [
        keyed('1', 'key', { scope: '' }),
        keyed('2', 'key', { scope: 'a' }),
        keyed('3', 'ey', { scope: 'k' }),
        keyed('4', '3:key', { scope: '' }),
        keyed('5', 'bc', { scope: 'a' }),
        keyed('6', 'c', { scope: 'ab' }),
      ];

      expect((await send(host, submissions)).every(({ created }) => created)).toBe(true);
    });

    test('keys are compared byte for byte', async () => {
      const keys = ['Key', 'key', 'key ', 'caf\u00e9', 'cafe\u0301', 'k'.repeat(255)];
      const submissions = keys.map((key, index) => keyed(`job-${index}`, key));

      expect((await send(host, submissions)).every(({ created }) => created)).toBe(true);
    });

    test.each([
      { title: 'rising', ids: ['a', 'b', 'c'] },
      { title: 'falling', ids: ['c', 'b', 'a'] },
    ])('of one key twice in a batch of $title ids the first one is stored', async ({ ids }) => {
      const results = await send(
        host,
        ids.map(id => keyed(id)),
      );

      expect(told(results)).toEqual([`${ids[0]} none`, `${ids[0]} uniqueKey`, `${ids[0]} uniqueKey`]);
      expect(await jobIds(host)).toEqual([ids[0]]);
    });

    test('many keys twice in a batch cost no statement of their own', async () => {
      const batch = [0, 1].flatMap(turn =>
        Array.from({ length: 50 }, (_, key) => keyed(`${key}-${turn}`, `key-${key}`)),
      );

      const sent = await sentDuring(host, async () => {
        const results = await send(host, batch.toReversed());
        expect(results.map(({ matched }) => matched)).toEqual(batch.map((_, at) => (at < 50 ? 'none' : 'uniqueKey')));
      });

      expect(sent.filter(statement => statement.includes('durable_job')).length).toBeLessThanOrEqual(4);
      expect((await jobIds(host)).every(id => id.endsWith('-1'))).toBe(true);
    });

    test('a batch with a conflict gives back the keys that it took', async () => {
      await send(host, [aSubmission({ id: 'stored' })]);

      await expect(send(host, [keyed('first'), aSubmission({ id: 'stored', payload: 'other' })])).rejects.toMatchObject(
        { code: 'JOB_IDENTITY_CONFLICT' },
      );

      expect(told(await send(host, [keyed('second')]))).toEqual(['second none']);
    });
  });

  test('of sixteen parallel submits with one key and ids of their own one creates its job, and all are answered with it', async () => {
    const results = await Promise.all(
      Array.from({ length: 16 }, (_, index) => host.jobs.submit(keyed(`job-${index}`))),
    );

    const [winner] = await jobIds(host);
    expect(await jobIds(host)).toHaveLength(1);
    expect(results.map(({ job }) => job.id)).toEqual(results.map(() => winner));
    expect(results.filter(({ created }) => created)).toHaveLength(1);
  });

  test('of two transactions that stage one key, the second waits, and is answered with the holder when the first commits', async () => {
    const { first, second } = await twoStages(host);

    await first.commit();

    expect(told([await second])).toEqual(['first uniqueKey']);
    expect(await jobIds(host)).toEqual(['first']);
  });

  test('of two transactions that stage one key, the second waits, and has it when the first rolls back', async () => {
    const { first, second } = await twoStages(host);

    await first.rollback();

    expect(told([await second])).toEqual(['second none']);
    expect(await jobIds(host)).toEqual(['second']);
  });

  test('a key is free for the next one as soon as its holder is cancelled, again and again', async () => {
    for (let round = 0; round < 5; round++) {
      expect(told([await host.jobs.submit(keyed(`job-${round}`))])).toEqual([`job-${round} none`]);
      await host.jobs.scope('').cancel(`job-${round}`);
    }
  });

  test('a key that changes hands while many ask for it is always answered with a job that has or had it', async () => {
    await host.jobs.submit(keyed('holder'));

    const asked = Promise.all(Array.from({ length: 8 }, (_, index) => host.jobs.submit(keyed(`job-${index}`))));
    await host.jobs.scope('').cancel('holder');
    const results = await asked;

    const ids = await jobIds(host);
    expect(results.every(({ job }) => ids.includes(job.id))).toBe(true);
    expect(results.filter(({ created }) => created).length).toBeLessThanOrEqual(1);
    expect(ids).toHaveLength(1 + results.filter(({ created }) => created).length);
  });
});

async function twoStages({ driver, orm, jobs }: Host) {
  const first = orm.em.fork();
  await first.begin();
  await jobs.stage(first, keyed('first'));

  const second = orm.em.fork().transactional(em => jobs.stage(em, keyed('second')));
  second.catch(() => {});
  // SQLite has one connection: there the second waits for its begin.
  if (driver === 'postgresql') await untilBlocked({ orm });

  return { first, second };
}
