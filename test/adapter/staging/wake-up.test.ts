import { describe, expect, test } from '@jest/globals';
import { RequestContext } from '@mikro-orm/core';
import type { StoreHint } from '../../../src/core/store.ts';
import { Jobs } from '../../../src/jobs.ts';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { dropOrm, forEachDriver } from '../../support/orm.ts';
import { createHost, idsIn, openHost, useHost, type Host } from './host.ts';
import { anOrder } from './order.ts';

const due = expect.objectContaining({ kind: 'due' }) as unknown;

forEachDriver(driver => {
  // A connection that begins to listen gives a hint of its own.
  const host = useHost(driver, { jobsOptions: { notifications: false } });

  test('a listener hears of a staged job when its transaction has committed, not when it is staged or flushed', async () => {
    const hints = listening(host);
    const em = host.orm.em.fork();
    await em.begin();
    await host.jobs.stage(em, aSubmission());
    await em.persist(anOrder('order-1')).flush();
    const before = [...hints];

    await em.commit();

    expect([before, [...hints]]).toEqual([[], [due]]);
    await hints.stop();
  });

  test('at that time every other connection sees the job', async () => {
    const other = driver === 'postgresql' ? await openHost(host) : host;
    let seen: Promise<string[]> | undefined;
    const stop = host.jobs.store.subscribe(() => {
      seen ??= idsIn(other.orm, 'durable_job');
    });

    await host.orm.em.fork().transactional(em => host.jobs.stage(em, aSubmission({ id: 'job-1' })));

    expect(await seen).toEqual(['job-1']);
    await stop();
  });

  test('a listener hears of what is committed through another Jobs on its ORM, and not when it has stopped', async () => {
    const hints = listening(host);
    const another = new Jobs({ orm: host.orm, notifications: false });

    await another.submit(aSubmission());
    await host.orm.em.fork().transactional(em => another.stage(em, aSubmission()));
    expect([...hints]).toEqual([due, due]);

    await hints.stop();
    await another.submit(aSubmission());
    expect([...hints]).toEqual([due, due]);
  });

  test('several stages in one transaction are one wake-up', async () => {
    const hints = listening(host);

    await host.orm.em.fork().transactional(async em => {
      await host.jobs.stage(em, someSubmissions(3));
      await host.jobs.stage(em, aSubmission());
    });

    expect([...hints]).toEqual([due]);
    await hints.stop();
  });

  test.each([
    {
      title: 'a callback that throws',
      run: ({ orm, jobs }: Host) =>
        orm.em.fork().transactional(async em => {
          await jobs.stage(em, aSubmission());
          throw new Error('rolled back');
        }),
    },
    {
      title: 'rollback()',
      run: async ({ orm, jobs }: Host) => {
        const em = orm.em.fork();
        await em.begin();
        await jobs.stage(em, aSubmission());
        await em.rollback();
        await em.transactional(async tx => void tx.persist(anOrder('order-1')));
      },
    },
    {
      title: 'a rolled-back transaction around a released savepoint',
      run: ({ orm, jobs }: Host) =>
        orm.em.fork().transactional(async outer => {
          await outer.transactional(inner => jobs.stage(inner, aSubmission()));
          throw new Error('rolled back');
        }),
    },
    {
      title: 'a transaction in which nothing was staged',
      run: ({ orm }: Host) => orm.em.fork().transactional(async em => void em.persist(anOrder('order-1'))),
    },
    {
      title: 'a refused stage()',
      run: ({ orm, jobs }: Host) => jobs.stage(orm.em.fork(), aSubmission()),
    },
  ])('a listener hears nothing of $title', async ({ run }) => {
    const hints = listening(host);

    await run(host).catch(() => {});

    expect([...hints]).toEqual([]);
    await hints.stop();
  });

  test('a stage that finds its job wakes nobody', async () => {
    const submission = aSubmission();
    await host.jobs.submit(submission);
    const hints = listening(host);

    await host.orm.em.fork().transactional(em => host.jobs.stage(em, submission));
    await host.jobs.submit(submission);

    expect([...hints]).toEqual([]);
    await hints.stop();
  });

  test('submit() wakes when it resolves', async () => {
    const hints = listening(host);

    await host.jobs.submit(aSubmission());
    await host.jobs.submit(someSubmissions(2));

    expect([...hints]).toEqual([due, due]);
    await hints.stop();
  });

  test('a submit() that is refused wakes nobody', async () => {
    await host.jobs.submit(aSubmission({ id: 'job-1' }));
    const hints = listening(host);

    await expect(
      host.jobs.submit([aSubmission(), aSubmission({ id: 'job-1', payload: 'other' })]),
    ).rejects.toMatchObject({ code: 'JOB_IDENTITY_CONFLICT' });

    expect([...hints]).toEqual([]);
    await hints.stop();
  });

  describe.each([
    { title: 'a fork', fork: ({ orm }: Host) => orm.em.fork() },
    {
      title: 'a fork with an event manager of its own',
      fork: ({ orm }: Host) => orm.em.fork({ freshEventManager: true }),
    },
  ])('in savepoints of $title', ({ fork }) => {
    test.each([1, 2, 3])('a listener hears of a job staged %i levels deep after the real commit', async depth => {
      const hints = listening(host);
      const heardBefore: number[] = [];
      const nest = async (em: ReturnType<typeof fork>, level: number): Promise<void> => {
        if (level === 0) return void (await host.jobs.stage(em, aSubmission()));
        await em.transactional(inner => nest(inner, level - 1));
        heardBefore.push([...hints].length);
      };

      await fork(host).transactional(outer => nest(outer, depth));

      expect(heardBefore).toEqual(Array.from({ length: depth }, () => 0));
      expect([...hints]).toEqual([due]);
      await hints.stop();
    });

    test('a listener hears of a job staged in a savepoint after begin() when that commits', async () => {
      const hints = listening(host);
      const em = fork(host);
      await em.begin();
      await em.transactional(inner => host.jobs.stage(inner, aSubmission()));
      const before = [...hints];

      await em.commit();

      expect([before, [...hints]]).toEqual([[], [due]]);
      await hints.stop();
    });
  });

  test.each([
    { title: 'the global EntityManager', run: ({ orm, jobs }: Host) => orm.em.transactional(() => jobs.stage(orm.em, aSubmission())) }, // prettier-ignore
    {
      title: 'a request context',
      run: ({ orm, jobs }: Host) =>
        RequestContext.create(orm.em, () => orm.em.transactional(() => jobs.stage(orm.em, aSubmission()))),
    },
    {
      title: 'one EntityManager in two transactions after each other',
      run: async ({ orm, jobs }: Host) => {
        const em = orm.em.fork();
        await em.begin();
        await em.transactional(async () => {});
        await em.commit();
        await em.begin();
        await jobs.stage(em, aSubmission());
        await em.commit();
      },
    },
  ])('a listener hears of a job staged by $title', async ({ run }) => {
    const hints = listening(host);

    await run(host);

    expect([...hints]).toEqual([due]);
    await hints.stop();
  });

  test('a listener hears of a job staged in a hook of an implicit flush after that flush', async () => {
    const other = await createHost(driver, {
      jobsOptions: { notifications: false },
      subscribers: [{ afterCreate: async ({ em }) => void (await other.jobs.stage(em, aSubmission())) }],
    });
    const hints = listening(other);

    await other.orm.em.fork().persist(anOrder('order-1')).flush();

    expect([...hints]).toEqual([due]);
    await dropOrm(other.orm);
  });

  test('a listener that has unsubscribed hears nothing', async () => {
    const hints = listening(host);
    await hints.stop();

    await host.jobs.submit(aSubmission());

    expect([...hints]).toEqual([]);
  });

  test('a listener that throws is logged, and fails neither the commit, nor submit(), nor the other listeners', async () => {
    const logged: unknown[] = [];
    const log = (fields: object) => {
      logged.push(fields);
      throw new Error('a broken logger');
    };
    const other = await createHost(driver, {
      jobsOptions: { notifications: false, logger: { info: log, warn: log, error: log } },
    });
    const broken = new Error('a broken listener');
    other.jobs.store.subscribe(() => {
      throw broken;
    });
    const hints = listening(other);

    await other.orm.em.fork().transactional(em => other.jobs.stage(em, aSubmission({ id: 'a' })));
    await other.jobs.submit(aSubmission({ id: 'b' }));

    expect([...hints]).toEqual([due, due]);
    expect(logged).toEqual([
      { event: 'hint_listener_failed', error: broken },
      { event: 'hint_listener_failed', error: broken },
    ]);
    expect(await idsIn(other.orm, 'durable_job')).toEqual(['a', 'b']);
    await dropOrm(other.orm);
  });
});

/** What a listener has heard so far. */
function listening({ jobs }: Host): Iterable<StoreHint> & { stop(): Promise<void> } {
  const heard: StoreHint[] = [];
  const stop = jobs.store.subscribe(hint => heard.push(hint));

  return { [Symbol.iterator]: () => heard[Symbol.iterator](), stop };
}
