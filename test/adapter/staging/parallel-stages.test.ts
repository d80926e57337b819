import { expect, test } from '@jest/globals';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { jobIds, orderIds, useHost } from './host.ts';
import { anOrder } from './order.ts';

forEachDriver(driver => {
  const host = useHost(driver);

  test('ten parallel stages of one request make one job, and one of them is told so', async () => {
    const results = await host.orm.em
      .fork()
      .transactional(em =>
        Promise.all(Array.from({ length: 10 }, () => host.jobs.stage(em, aSubmission({ id: 'job-1' })))),
      );

    expect(results.filter(({ created }) => created)).toHaveLength(1);
    expect(results.filter(({ matched }) => matched === 'identity')).toHaveLength(9);
    expect(await jobIds(host)).toEqual(['job-1']);
  });

  test('parallel stages of single jobs and of batches are all there after the commit', async () => {
    const batches = [someSubmissions(1), someSubmissions(5), someSubmissions(1), someSubmissions(20)];

    await host.orm.em
      .fork()
      .transactional(em =>
        Promise.all([
          ...batches.map(batch => host.jobs.stage(em, batch)),
          host.jobs.stage(em, batches[1]![2]!),
          em.persist(anOrder('order-1')).flush(),
        ]),
      );

    expect(await jobIds(host)).toEqual(
      batches
        .flat()
        .map(({ id }) => id)
        .sort(),
    );
    expect(await orderIds(host)).toEqual(['order-1']);
  });

  test('a batch that is taken back takes nothing from a stage beside it', async () => {
    const shared = aSubmission({ id: 'shared' });
    await host.jobs.submit(aSubmission({ id: 'stored' }));

    const [batch, single] = await host.orm.em
      .fork()
      .transactional(em =>
        Promise.allSettled([
          host.jobs.stage(em, [shared, aSubmission({ id: 'stored', payload: 'other' })]),
          host.jobs.stage(em, shared),
        ]),
      );

    expect([batch.status, single.status]).toEqual(['rejected', 'fulfilled']);
    expect(await jobIds(host)).toEqual(['shared', 'stored']);
  });

  test('parallel stages in an outer transaction and after each other in its savepoints are all there', async () => {
    await host.orm.em.fork().transactional(async outer => {
      await Promise.all([
        host.jobs.stage(outer, aSubmission({ id: 'a' })),
        host.jobs.stage(outer, aSubmission({ id: 'b' })),
      ]);
      await outer.transactional(inner =>
        Promise.all([
          host.jobs.stage(inner, aSubmission({ id: 'c' })),
          host.jobs.stage(inner, aSubmission({ id: 'a' })),
        ]),
      );
    });

    expect(await jobIds(host)).toEqual(['a', 'b', 'c']);
  });

  test('parallel stages of a transaction that fails leave nothing', async () => {
    const failed = host.orm.em.fork().transactional(async em => {
      await Promise.all(someSubmissions(6).map(submission => host.jobs.stage(em, submission)));
      throw new Error('rolled back');
    });

    await expect(failed).rejects.toThrow('rolled back');
    expect(await jobIds(host)).toEqual([]);
  });

  test('parallel submits are all there, each as often as it was asked for', async () => {
    const submissions = someSubmissions(6);

    const results = await Promise.all([...submissions, ...submissions].map(each => host.jobs.submit(each)));

    expect(results.filter(({ created }) => created)).toHaveLength(6);
    expect(await jobIds(host)).toEqual(submissions.map(({ id }) => id).sort());
  });
});
