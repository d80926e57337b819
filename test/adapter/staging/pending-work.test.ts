import { describe, expect, test } from '@jest/globals';
import { FlushMode, type EntityManager } from '@mikro-orm/core';
import { Job } from '../../../src/entities/index.ts';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { jobIds, sentDuring, useHost, type Host } from './host.ts';
import { Order, anOrder } from './order.ts';

forEachDriver(driver => {
  const host = useHost(driver);

  test('stage() of one job sends one statement', async () => {
    await host.orm.em.fork().transactional(async em => {
      // The first one of a process asks which process of the server it speaks to.
      await host.jobs.stage(em, aSubmission());
      const sent = await sentDuring(host, () => host.jobs.stage(em, aSubmission()));

      expect(sent).toEqual([expect.stringMatching(/^\[query\]\s+insert into .*durable_job/)]);
    });
  });

  test('stage() of many jobs sends one statement', async () => {
    await host.orm.em.fork().transactional(async em => {
      const sent = await sentDuring(host, () => host.jobs.stage(em, someSubmissions(200)));

      expect(sent).toEqual([expect.stringMatching(/^\[query\]\s+insert into .*durable_job/)]);
    });

    expect(await jobIds(host)).toHaveLength(200);
  });

  test('a transaction of the host with one job in it is one begin, one insert and one commit', async () => {
    const sent = await sentDuring(host, () =>
      host.orm.em.fork().transactional(em => host.jobs.stage(em, aSubmission())),
    );

    expect(sent.map(statement => statement.replace(/^\[query\]\s+(\w+)[^]*$/, '$1'))).toEqual([
      'begin',
      'insert',
      'commit',
    ]);
  });

  test('a job that is stored already costs one more statement, a read', async () => {
    const submission = aSubmission();
    await host.jobs.submit(submission);

    await host.orm.em.fork().transactional(async em => {
      const sent = await sentDuring(host, () => host.jobs.stage(em, submission));

      expect(sent).toEqual([expect.stringContaining('insert into'), expect.stringMatching(/with wanted.*\s+select/)]);
    });
  });

  describe.each([FlushMode.AUTO, FlushMode.COMMIT, FlushMode.ALWAYS])('in flush mode %s', flushMode => {
    test('what the caller has persisted, changed or removed stays pending, and is written by the flush of the caller', async () => {
      await host.orm.em
        .fork()
        .persist([anOrder('changed'), anOrder('removed')])
        .flush();

      await host.orm.em.fork({ flushMode }).transactional(async em => {
        const changed = await em.findOneOrFail(Order, 'changed');
        changed.note = 'changed';
        em.persist(anOrder('new'));
        em.remove(await em.findOneOrFail(Order, 'removed', { flushMode: FlushMode.COMMIT }));
        const before = pendingIn(em);

        const sent = await sentDuring(host, () => host.jobs.stage(em, aSubmission({ id: 'job-1' })));

        expect(sent).toHaveLength(1);
        expect(pendingIn(em)).toEqual(before);
        expect(await notesIn(em)).toEqual({ changed: null, removed: null });
      });

      expect(await notesIn(host.orm.em.fork())).toEqual({ changed: 'changed', new: null });
      expect(await jobIds(host)).toEqual(['job-1']);
    });
  });

  test('the identity map holds nothing that the caller did not put there', async () => {
    await host.orm.em.fork().transactional(async em => {
      const submission = aSubmission({ id: 'job-1' });
      await host.jobs.stage(em, [submission, aSubmission()]);
      await host.jobs.stage(em, submission);

      expect(em.getUnitOfWork().getIdentityMap().keys()).toEqual([]);

      const found = await em.findOneOrFail(Job, { id: 'job-1' });
      await host.jobs.stage(em, submission);

      expect(em.getUnitOfWork().getIdentityMap().values()).toEqual([found]);
    });
  });

  test('an entity of a staged job that the caller has loaded is not changed', async () => {
    const submission = aSubmission({ id: 'job-1' });
    await host.jobs.submit(submission);

    await host.orm.em.fork().transactional(async em => {
      const found = await em.findOneOrFail(Job, { id: 'job-1' });
      found.queue = 'the caller wrote here';
      await host.jobs.stage(em, submission);

      expect(found.queue).toBe('the caller wrote here');
    });
  });

  test('the answer is a frozen snapshot', async () => {
    const { result, list } = await host.orm.em.fork().transactional(async em => ({
      result: await host.jobs.stage(em, aSubmission()),
      list: await host.jobs.stage(em, someSubmissions(2)),
    }));

    expect([result, result.job, result.job.metadata, ...list].every(Object.isFrozen)).toBe(true);
    expect(result.job.createdAt).toBeInstanceOf(Date);
    expect(result.job).not.toHaveProperty('payload');
  });
});

function pendingIn(em: EntityManager): unknown {
  const unitOfWork = em.getUnitOfWork();

  return {
    persisted: [...unitOfWork.getPersistStack()],
    removed: [...unitOfWork.getRemoveStack()],
    managed: unitOfWork.getIdentityMap().values(),
  };
}

async function notesIn(em: Pick<Host['orm']['em'], 'execute'>): Promise<Record<string, string | null>> {
  const rows: { id: string; note: string | null }[] = await em.execute('select id, note from order_ order by id');

  return Object.fromEntries(rows.map(({ id, note }) => [id, note]));
}
