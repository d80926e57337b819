import { describe, expect, test } from '@jest/globals';
import type { Submission } from '../../../src/core/submission.ts';
import type { StageResult } from '../../../src/core/snapshot.ts';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { jobIds, orderIds, sentDuring, useHost, type Host } from './host.ts';
import { anOrder } from './order.ts';

const ways: { title: string; send: (host: Host, batch: readonly Submission[]) => Promise<StageResult[]> }[] = [
  { title: 'submit()', send: ({ jobs }, batch) => jobs.submit(batch) },
  {
    title: 'stage()',
    send: ({ orm, jobs }, batch) => orm.em.fork().transactional(em => jobs.stage(em, batch)),
  },
];

forEachDriver(driver => {
  const host = useHost(driver);

  describe.each(ways)('a batch by $title', ({ send }) => {
    test('is answered by position', async () => {
      const stored = aSubmission({ id: 'stored' });
      await host.jobs.submit(stored);

      const results = await send(host, [aSubmission({ id: 'z' }), stored, aSubmission({ id: 'a' })]);

      expect(results.map(({ job, created, matched }) => [job.id, created, matched])).toEqual([
        ['z', true, 'none'],
        ['stored', false, 'identity'],
        ['a', true, 'none'],
      ]);
    });

    test('with one request twice creates it once, and answers the first as created', async () => {
      const twice = aSubmission({ id: 'twice' });

      const results = await send(host, [twice, aSubmission({ id: 'once' }), aSubmission({ id: 'twice' })]);

      expect(results.map(({ job, created, matched }) => [job.id, created, matched])).toEqual([
        ['twice', true, 'none'],
        ['once', true, 'none'],
        ['twice', false, 'identity'],
      ]);
      expect(await jobIds(host)).toEqual(['once', 'twice']);
    });

    test('with two requests under one identity is a conflict before any SQL', async () => {
      const conflicting = [aSubmission({ id: 'a' }), aSubmission({ id: 'b' }), aSubmission({ id: 'a', payload: 1 })];

      const sent = await sentDuring(host, async () => {
        await expect(send(host, conflicting)).rejects.toMatchObject({
          code: 'JOB_IDENTITY_CONFLICT',
          key: { scope: '', id: 'a' },
          differences: [{ field: 'payload' }],
        });
      });

      expect(sent.filter(statement => statement.includes('durable_job'))).toEqual([]);
    });

    test('holds jobs of one id in several scopes', async () => {
      const results = await send(
        host,
        ['', 'a', 'b'].map(scope => aSubmission({ id: 'job-1', scope })),
      );

      expect(results.map(({ job, created }) => [job.scope, created])).toEqual([
        ['', true],
        ['a', true],
        ['b', true],
      ]);
    });

    test('of nothing is answered with nothing', async () => {
      expect(await send(host, [])).toEqual([]);
    });

    test('of several thousand jobs is all there, in the order of the batch', async () => {
      const batch = someSubmissions(2500, { payload: { text: 'x'.repeat(50) } });

      const results = await send(host, batch);

      expect(results.map(({ job }) => job.id)).toEqual(batch.map(({ id }) => id));
      const rows: { id: string }[] = await host.orm.em.execute('select id from durable_job order by created_at');
      expect(rows.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
    });

    test.each([
      { title: 'first', place: 0 },
      { title: 'in the middle', place: 1 },
      { title: 'last', place: 2 },
    ])('that meets a conflict $title leaves nothing of itself', async ({ place }) => {
      await host.jobs.submit(aSubmission({ id: 'm', payload: 'stored' }));
      const batch = [aSubmission({ id: 'a' }), aSubmission({ id: 'z' })].toSpliced(
        place,
        0,
        aSubmission({ id: 'm', payload: 'other' }),
      );

      await expect(send(host, batch)).rejects.toMatchObject({ code: 'JOB_IDENTITY_CONFLICT', key: { id: 'm' } });

      expect(await jobIds(host)).toEqual(['m']);
    });

    test('that meets a conflict in its last statement leaves nothing of the earlier ones', async () => {
      await host.jobs.submit(aSubmission({ id: 'stored', payload: 'stored' }));
      const batch = [...someSubmissions(1500), aSubmission({ id: 'stored', payload: 'other' })];

      await expect(send(host, batch)).rejects.toMatchObject({ code: 'JOB_IDENTITY_CONFLICT' });

      expect(await jobIds(host)).toEqual(['stored']);
    });
  });

  test('a conflict that the host swallows leaves nothing of the batch, and the rest of the transaction commits', async () => {
    const stored = aSubmission({ id: 'stored' });
    await host.jobs.submit(stored);

    await host.orm.em.fork().transactional(async em => {
      em.persist(anOrder('order-1'));
      const kept = aSubmission({ id: 'kept' });
      await host.jobs.stage(em, kept);
      const batch = [aSubmission({ id: 'fresh' }), kept, stored, aSubmission({ id: 'stored', payload: 'other' })];
      await expect(host.jobs.stage(em, [batch[0]!, batch[1]!, batch[3]!])).rejects.toMatchObject({
        code: 'JOB_IDENTITY_CONFLICT',
      });
      await em.flush();
      await host.jobs.stage(em, aSubmission({ id: 'after' }));
    });

    expect([await jobIds(host), await orderIds(host)]).toEqual([['after', 'kept', 'stored'], ['order-1']]);
  });

  test('a conflict that the host does not swallow takes the whole transaction with it', async () => {
    await host.jobs.submit(aSubmission({ id: 'stored' }));

    const failed = host.orm.em.fork().transactional(async em => {
      await em.persist(anOrder('order-1')).flush();
      await host.jobs.stage(em, aSubmission({ id: 'stored', payload: 'other' }));
    });

    await expect(failed).rejects.toMatchObject({ code: 'JOB_IDENTITY_CONFLICT' });
    expect([await jobIds(host), await orderIds(host)]).toEqual([['stored'], []]);
  });
});
