import { beforeEach, expect, test } from '@jest/globals';
import { Heard } from '../../executor/support/heard.ts';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { useHost } from './host.ts';

forEachDriver(driver => {
  const host = useHost(driver, { jobsOptions: { notifications: false } });
  let heard: Heard;

  beforeEach(() => {
    heard?.end();
    heard = new Heard(host.jobs.events);
  });

  test('a staged job is told of when its transaction has committed, and not before', async () => {
    const em = host.orm.em.fork();
    await em.begin();
    await host.jobs.stage(em, aSubmission({ id: 'a', scope: 'tenant', queue: 'slow' }));
    await em.flush();
    const before = [...heard.all];

    await em.commit();

    expect(before).toEqual([]);
    expect(heard.all).toEqual([
      {
        event: 'job_staged',
        scope: 'tenant',
        id: 'a',
        name: 'mail.send',
        version: '1',
        queue: 'slow',
        state: 'queued',
      },
    ]);
  });

  test('all that one transaction staged is told of with its commit, each job once', async () => {
    await host.orm.em.fork().transactional(async em => {
      await host.jobs.stage(em, [aSubmission({ id: 'a' }), aSubmission({ id: 'b' })]);
      await host.jobs.stage(em, aSubmission({ id: 'a' }));
      await host.jobs.stage(em, aSubmission({ id: 'child', after: [{ scope: '', id: 'a' }] }));
    });

    expect(ids()).toEqual(['a', 'b', 'child']);
    expect(heard.of('job_staged')[2]).toMatchObject({ state: 'awaiting' });
  });

  test('nothing is told of what was rolled back', async () => {
    const rolledBack = host.orm.em.fork().transactional(async em => {
      await host.jobs.stage(em, aSubmission());
      throw new Error('x');
    });

    await expect(rolledBack).rejects.toThrow('x');
    expect(heard.all).toEqual([]);
  });

  test('nothing is told of what went with its savepoint, or with one around it, though the transaction commits', async () => {
    await host.orm.em.fork().transactional(async em => {
      await host.jobs.stage(em, aSubmission({ id: 'outer' }));
      const gone = em.transactional(async inner => {
        await host.jobs.stage(inner, aSubmission({ id: 'gone' }));
        throw new Error('x');
      });
      await expect(gone).rejects.toThrow('x');
      const goneAround = em.transactional(async inner => {
        await inner.transactional(innermost => host.jobs.stage(innermost, aSubmission({ id: 'gone-too' })));
        throw new Error('y');
      });
      await expect(goneAround).rejects.toThrow('y');
      await em.transactional(inner => host.jobs.stage(inner, aSubmission({ id: 'inner' })));
      await em.transactional(inner =>
        inner.transactional(innermost => host.jobs.stage(innermost, aSubmission({ id: 'innermost' }))),
      );
    });

    expect(ids()).toEqual(['outer', 'inner', 'innermost']);
  });

  test('a submitted job is told of, alone, with others at once, and in a batch; one that was there is not', async () => {
    const [one, ...rest] = someSubmissions(5);

    await host.jobs.submit(one!);
    await Promise.all(rest.map(submission => host.jobs.submit(submission)));
    await host.jobs.submit([one!, aSubmission({ id: 'new' })]);
    await host.jobs.submit(one!);

    expect(ids().sort()).toEqual([one!.id, ...rest.map(({ id }) => id), 'new'].sort());
  });

  test('a job that a unit of work stages is told of with its commit', async () => {
    await host.jobs.unitOfWork.execute(async ({ stage }) => {
      await stage(aSubmission({ id: 'a' }));
      expect(heard.all).toEqual([]);
    });

    expect(ids()).toEqual(['a']);
  });

  test('a cancel is told of with its answer', async () => {
    await host.jobs.submit(aSubmission({ id: 'a' }));
    const control = host.jobs.scope('');

    await control.cancel('a', { reason: 'not needed' });
    await control.cancel('unknown');
    await host.jobs.submit(aSubmission({ id: 'b' }));
    await host.jobs.admin.cancelAll({}, { limit: 10 });

    expect(heard.of('cancel_requested')).toEqual([
      { event: 'cancel_requested', scope: '', id: 'a', answer: 'cancelled', reason: 'not needed', actor: null },
      { event: 'cancel_requested', scope: '', id: 'b', answer: 'cancelled', reason: null, actor: null },
    ]);
  });

  function ids(): string[] {
    return heard.of('job_staged').map(({ id }) => id);
  }
});
