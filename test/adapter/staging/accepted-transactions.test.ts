import { describe, expect, test } from '@jest/globals';
import {
  RequestContext,
  TransactionPropagation,
  type EntityManager,
  type EventSubscriber,
  type FlushEventArgs,
} from '@mikro-orm/core';
import { aSubmission } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { jobIds, orderIds, useHost, type Host } from './host.ts';
import { Order, anOrder } from './order.ts';

type Stage = (em: EntityManager) => Promise<unknown>;

const transactions: { title: string; run: (host: Host, stage: Stage) => Promise<unknown> }[] = [
  {
    title: 'the callback of transactional() on a fork',
    run: ({ orm }, stage) => orm.em.fork().transactional(em => stage(em)),
  },
  {
    title: 'the callback of transactional() on the global EntityManager',
    run: ({ orm }, stage) => orm.em.transactional(em => stage(em)),
  },
  {
    title: 'a fork after begin()',
    run: async ({ orm }, stage) => {
      const em = orm.em.fork();
      await em.begin();
      await stage(em);
      await em.commit();
    },
  },
  {
    title: 'a fork in its second begin()',
    run: async ({ orm }, stage) => {
      const em = orm.em.fork();
      await em.begin();
      await em.commit();
      await em.begin();
      await stage(em);
      await em.commit();
    },
  },
  {
    title: 'a nested transactional(), which is a savepoint',
    run: ({ orm }, stage) => orm.em.fork().transactional(outer => outer.transactional(inner => stage(inner))),
  },
  {
    title: 'the outer EntityManager after a nested transactional()',
    run: ({ orm }, stage) =>
      orm.em.fork().transactional(async outer => {
        await outer.transactional(async () => {});
        await stage(outer);
      }),
  },
  {
    title: 'the global EntityManager inside transactional(), as a repository or an injected service has it',
    run: ({ orm }, stage) => orm.em.transactional(() => stage(orm.em)),
  },
  {
    title: 'the global EntityManager inside transactional() of a fork',
    run: ({ orm }, stage) => orm.em.fork().transactional(() => stage(orm.em)),
  },
  {
    title: 'the global EntityManager inside a nested transactional()',
    run: ({ orm }, stage) => orm.em.transactional(() => orm.em.transactional(() => stage(orm.em))),
  },
  {
    title: 'transactional() of a request context',
    run: ({ orm }, stage) => RequestContext.create(orm.em, () => orm.em.transactional(() => stage(orm.em))),
  },
  {
    title: 'the EntityManager of a request context after begin()',
    run: ({ orm }, stage) =>
      RequestContext.create(orm.em, async () => {
        await orm.em.begin();
        await stage(orm.em);
        await orm.em.commit();
      }),
  },
  {
    title: 'a fork that keeps the transaction',
    run: ({ orm }, stage) =>
      orm.em.fork().transactional(async em => {
        const kept = em.fork({ keepTransactionContext: true });
        await kept.transactional(inner => stage(inner));
      }),
  },
  {
    title: 'a fork that uses the context',
    run: ({ orm }, stage) => orm.em.transactional(em => stage(em.fork({ useContext: true }))),
  },
  ...[
    TransactionPropagation.REQUIRED,
    TransactionPropagation.NESTED,
    TransactionPropagation.SUPPORTS,
    TransactionPropagation.MANDATORY,
  ].map(propagation => ({
    title: `propagation ${propagation} inside a transaction`,
    run: ({ orm }: Host, stage: Stage) =>
      orm.em.fork().transactional(outer => outer.transactional(inner => stage(inner), { propagation })),
  })),
  ...[TransactionPropagation.REQUIRED, TransactionPropagation.NESTED, TransactionPropagation.REQUIRES_NEW].map(
    propagation => ({
      title: `propagation ${propagation} as the outermost transaction`,
      run: ({ orm }: Host, stage: Stage) => orm.em.fork().transactional(em => stage(em), { propagation }),
    }),
  ),
];

forEachDriver(driver => {
  const host = useHost(driver);

  test.each(transactions)('stage() accepts $title', async ({ run }) => {
    await run(host, em => host.jobs.stage(em, aSubmission({ id: 'job-1' })));

    expect(await jobIds(host)).toEqual(['job-1']);
  });

  describe('in a lifecycle hook of an implicit flush', () => {
    test('stage() writes in the transaction of the flush', async () => {
      const em = host.orm.em.fork({ freshEventManager: true });
      em.getEventManager().registerSubscriber(staging(host, 'afterCreate'));
      em.persist(anOrder('order-1'));

      await em.flush();

      expect([await orderIds(host), await jobIds(host)]).toEqual([['order-1'], ['order-1:mail']]);
    });

    test('the job vanishes with a flush that fails', async () => {
      await host.orm.em.fork().persist(anOrder('order-2')).flush();
      const em = host.orm.em.fork({ freshEventManager: true });
      em.getEventManager().registerSubscriber(staging(host, 'beforeUpdate'));
      em.getEventManager().registerSubscriber({
        afterUpdate: async () => {
          await em.execute('insert into order_ (id) values (?)', ['order-2']);
        },
      });
      Object.assign(await em.findOneOrFail(Order, 'order-2'), { note: 'changed' });

      await expect(em.flush()).rejects.toMatchObject({ name: 'UniqueConstraintViolationException' });

      expect(await jobIds(host)).toEqual([]);
    });

    test.each(['beforeFlush', 'onFlush', 'afterFlush'] as const)(
      '%s runs outside that transaction, and stage() refuses there',
      async hook => {
        const em = host.orm.em.fork({ freshEventManager: true });
        em.getEventManager().registerSubscriber({
          [hook]: async (args: FlushEventArgs) => void (await host.jobs.stage(args.em, aSubmission())),
        });
        em.persist(anOrder('order-3'));

        await expect(em.flush()).rejects.toMatchObject({ code: 'TRANSACTION_REQUIRED' });

        expect(await jobIds(host)).toEqual([]);
      },
    );

    test('beforeFlush inside an explicit transaction writes in that', async () => {
      const em = host.orm.em.fork({ freshEventManager: true });
      em.getEventManager().registerSubscriber({
        beforeFlush: async (args: FlushEventArgs) => {
          await host.jobs.stage(args.em, aSubmission({ id: 'job-1' }));
        },
      });

      await em.transactional(async tx => void tx.persist(anOrder('order-4')));

      expect([await orderIds(host), await jobIds(host)]).toEqual([['order-4'], ['job-1']]);
    });
  });

  if (driver === 'postgresql') {
    test('a job staged under REQUIRES_NEW stays when the transaction around it is rolled back', async () => {
      const outer = host.orm.em.fork().transactional(async em => {
        await host.jobs.stage(em, aSubmission({ id: 'outer' }));
        await em.transactional(inner => host.jobs.stage(inner, aSubmission({ id: 'inner' })), {
          propagation: TransactionPropagation.REQUIRES_NEW,
        });
        throw new Error('rolled back');
      });

      await expect(outer).rejects.toThrow('rolled back');
      expect(await jobIds(host)).toEqual(['inner']);
    });
  }
});

function staging({ jobs }: Host, hook: 'afterCreate' | 'beforeUpdate'): EventSubscriber {
  return {
    [hook]: async ({ em, entity }: { em: EntityManager; entity: object }) => {
      if (entity instanceof Order) await jobs.stage(em, aSubmission({ id: `${entity.id}:mail` }));
    },
  };
}
