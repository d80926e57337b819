import { expect, test } from '@jest/globals';
import { RequestContext, TransactionPropagation, type EntityManager, type FlushEventArgs } from '@mikro-orm/core';
import type { StageResult } from '../../../src/core/snapshot.ts';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { dropOrm, forEachDriver } from '../../support/orm.ts';
import { createHost, jobIds, openHost, orderIds, sentDuring, useHost, type Host } from './host.ts';
import { Order, anOrder } from './order.ts';

type Submit = () => Promise<unknown>;

const ambient: { title: string; open: (host: Host, submit: Submit) => Promise<unknown> }[] = [
  { title: 'transactional() of a fork', open: ({ orm }, submit) => orm.em.fork().transactional(() => submit()) },
  {
    title: 'transactional() of the global EntityManager',
    open: ({ orm }, submit) => orm.em.transactional(() => submit()),
  },
  {
    title: 'a nested transactional()',
    open: ({ orm }, submit) => orm.em.fork().transactional(em => em.transactional(() => submit())),
  },
  {
    title: 'transactional() of a request context',
    open: ({ orm }, submit) => RequestContext.create(orm.em, () => orm.em.transactional(() => submit())),
  },
  {
    title: 'a transaction that was begun on the request context',
    open: ({ orm }, submit) =>
      RequestContext.create(orm.em, async () => {
        await orm.em.begin();
        await submit().finally(() => orm.em.rollback());
      }),
  },
  {
    title: 'a transaction that was begun on the global EntityManager',
    open: async ({ orm }, submit) => {
      await orm.em.begin();
      await submit().finally(() => orm.em.rollback());
    },
  },
  {
    title: 'propagation required',
    open: ({ orm }, submit) =>
      orm.em.fork().transactional(() => submit(), { propagation: TransactionPropagation.REQUIRED }),
  },
];

forEachDriver(driver => {
  const host = useHost(driver);

  test('a submitted job is committed when the promise resolves', async () => {
    const other = driver === 'postgresql' ? await openHost(host) : host;

    await host.jobs.submit(aSubmission({ id: 'job-1' }));

    expect(await jobIds(other)).toEqual(['job-1']);
  });

  test.each(ambient)('submit() is refused, before any SQL, in $title', async ({ open }) => {
    let sent: readonly string[] = ['submit() was never called'];
    const refused = open(host, async () => {
      const submitted = host.jobs.submit(aSubmission());
      sent = await sentDuring(host, () => submitted.catch(() => {}));
      await submitted;
    });

    await expect(refused).rejects.toMatchObject({
      code: 'AMBIENT_TRANSACTION',
      operation: 'submit()',
      message: expect.stringMatching(/inside a transaction.*Use `stage\(em, …\)` there\.$/),
    });
    expect(sent).toEqual([]);
    expect(await jobIds(host)).toEqual([]);
  });

  test('submit() is refused in a hook of a flush that the request context makes', async () => {
    const submit: { (): Promise<unknown> }[] = [];
    const subscriber = { afterCreate: async () => void (await submit[0]!()) };
    const other = await createHost(driver, { subscribers: [subscriber] });
    submit.push(() => other.jobs.submit(aSubmission()));

    const flushed = RequestContext.create(other.orm.em, async () => {
      await other.orm.em.persist(anOrder('order-1')).flush();
    });

    await expect(flushed).rejects.toMatchObject({ code: 'AMBIENT_TRANSACTION' });
    expect([await jobIds(other), await orderIds(other)]).toEqual([[], []]);
    await dropOrm(other.orm);
  });

  test('an empty list is refused there as well', async () => {
    const refused = host.orm.em.fork().transactional(() => host.jobs.submit([]));

    await expect(refused).rejects.toMatchObject({ code: 'AMBIENT_TRANSACTION' });
  });

  test('submit() works in a request context', async () => {
    await RequestContext.create(host.orm.em, () => host.jobs.submit(aSubmission({ id: 'job-1' })));

    expect(await jobIds(host)).toEqual(['job-1']);
  });

  test.each([
    { title: 'a transaction', levels: 1 },
    { title: 'a savepoint', levels: 2 },
    { title: 'a savepoint in a savepoint', levels: 3 },
  ])('submit() works in code that was started inside $title and outlives the transaction', async ({ levels }) => {
    let end!: () => void;
    const ended = new Promise<void>(resolve => (end = resolve));
    const start = async (em: EntityManager, level: number): Promise<{ later: Promise<StageResult> }> =>
      level === 0
        ? { later: ended.then(() => host.jobs.submit(aSubmission())) }
        : em.transactional(inner => start(inner, level - 1));

    const { later } = await start(host.orm.em.fork(), levels);
    end();

    expect((await later).created).toBe(true);
  });

  test('what the caller has pending is neither flushed nor lost', async () => {
    await host.orm.em.fork().persist(anOrder('order-1')).flush();

    await RequestContext.create(host.orm.em, async () => {
      const changed = await host.orm.em.findOneOrFail(Order, 'order-1');
      changed.note = 'changed';
      host.orm.em.persist(anOrder('order-2'));

      await host.jobs.submit(aSubmission({ id: 'job-1' }));

      expect(await orderIds(host)).toEqual(['order-1']);
      expect(host.orm.em.getUnitOfWork().getPersistStack().size).toBe(1);
      await host.orm.em.flush();
    });

    expect([await orderIds(host), await jobIds(host)]).toEqual([['order-1', 'order-2'], ['job-1']]);
    expect((await host.orm.em.fork().findOneOrFail(Order, 'order-1')).note).toBe('changed');
  });

  test('a conflict leaves the EntityManager of the caller usable', async () => {
    await host.jobs.submit(aSubmission({ id: 'job-1' }));

    await RequestContext.create(host.orm.em, async () => {
      host.orm.em.persist(anOrder('order-1'));
      await expect(host.jobs.submit(aSubmission({ id: 'job-1', payload: 'other' }))).rejects.toMatchObject({
        code: 'JOB_IDENTITY_CONFLICT',
      });
      await host.orm.em.flush();
    });

    expect(await orderIds(host)).toEqual(['order-1']);
  });

  test('one job, then the same ids again and again, needs no clearing of anything', async () => {
    for (let round = 0; round < 3; round++) {
      for (const id of ['a', 'b']) {
        expect((await host.jobs.submit(aSubmission({ id }))).created).toBe(true);
        await host.orm.em.execute('delete from durable_job where id = ?', [id]);
      }
    }
  });

  test('submit() sends nothing in a transaction of the ORM’s own events, so subscribers of the host hear nothing', async () => {
    const heard: string[] = [];
    const names = ['beforeFlush', 'onFlush', 'afterFlush', 'beforeCreate', 'afterCreate', 'beforeTransactionStart', 'afterTransactionCommit']; // prettier-ignore
    const subscriber = Object.fromEntries(
      names.map(name => [name, async (_: FlushEventArgs) => void heard.push(name)]),
    );
    const other = await createHost(driver, { subscribers: [subscriber] });

    await other.jobs.submit([...someSubmissions(2)]);
    await other.jobs.submit(aSubmission());

    expect(heard).toEqual([]);
    expect(await jobIds(other)).toHaveLength(3);
    await dropOrm(other.orm);
  });
});
