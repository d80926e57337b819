import { expect, test } from '@jest/globals';
import { RequestContext, TransactionPropagation, type EntityManager } from '@mikro-orm/core';
import { aSubmission } from '../../support/builders.ts';
import { dropOrm, forEachDriver } from '../../support/orm.ts';
import { createHost, jobIds, sentDuring, useHost, type Host } from './host.ts';

type Stage = (em: EntityManager) => Promise<unknown>;

/** `open` may send statements of the host's; what is counted is what the refused stage sends. */
const refusals: {
  title: string;
  code: string;
  message: RegExp;
  open: (host: Host, stage: Stage) => Promise<unknown>;
}[] = [
  {
    title: 'no transaction is open on the fork',
    code: 'TRANSACTION_REQUIRED',
    message: /call it inside `em\.transactional\(em => …\)`/,
    open: ({ orm }, stage) => stage(orm.em.fork()),
  },
  {
    title: 'no transaction is open at all',
    code: 'TRANSACTION_REQUIRED',
    message: /use `submit\(\)`/,
    open: ({ orm }, stage) => stage(orm.em),
  },
  {
    title: 'no transaction is open in the request context',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: ({ orm }, stage) => RequestContext.create(orm.em, () => stage(orm.em)),
  },
  {
    title: 'transactional() opens nothing, because transactions are disabled',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: ({ orm }, stage) => orm.em.fork({ disableTransactions: true }).transactional(em => stage(em)),
  },
  ...[TransactionPropagation.SUPPORTS, TransactionPropagation.NEVER, TransactionPropagation.NOT_SUPPORTED].map(
    propagation => ({
      title: `propagation ${propagation} opens nothing`,
      code: 'TRANSACTION_REQUIRED',
      message: /needs an explicit transaction/,
      open: ({ orm }: Host, stage: Stage) => orm.em.fork().transactional(em => stage(em), { propagation }),
    }),
  ),
  {
    title: 'propagation not_supported has suspended the transaction',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: ({ orm }, stage) =>
      orm.em
        .fork()
        .transactional(outer =>
          outer.transactional(em => stage(em), { propagation: TransactionPropagation.NOT_SUPPORTED }),
        ),
  },
  {
    title: 'the transaction was begun on the global EntityManager',
    code: 'TRANSACTION_REQUIRED',
    message: /the global EntityManager after `begin\(\)` is shared by everything in the process/,
    open: async ({ orm }, stage) => {
      await orm.em.begin();
      try {
        await stage(orm.em);
      } finally {
        await orm.em.rollback();
      }
    },
  },
  {
    title: 'the fork is the outer one, whose transactional() handed its callback another',
    code: 'ENTITY_MANAGER_MISMATCH',
    message: /Pass the one that `transactional\(\)` hands to its callback/,
    open: ({ orm }, stage) => {
      const outer = orm.em.fork();
      return outer.transactional(() => stage(outer));
    },
  },
  {
    title: 'the fork was made inside the transaction and is outside of it',
    code: 'ENTITY_MANAGER_MISMATCH',
    message: /from outside the transaction that is open here/,
    open: ({ orm }, stage) => orm.em.fork().transactional(em => stage(em.fork())),
  },
  {
    title: 'the EntityManager is that of the outer transaction, beside an open savepoint',
    code: 'ENTITY_MANAGER_MISMATCH',
    message: /from outside the transaction that is open here/,
    open: ({ orm }, stage) => orm.em.fork().transactional(outer => outer.transactional(() => stage(outer))),
  },
  {
    title: 'the EntityManager is that of a savepoint which has been released',
    code: 'ENTITY_MANAGER_MISMATCH',
    message: /from outside the transaction that is open here/,
    open: ({ orm }, stage) =>
      orm.em.fork().transactional(async outer => {
        const released = await outer.transactional(async inner => inner);
        await stage(released);
      }),
  },
  {
    title: 'the transaction has been committed',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: async ({ orm }, stage) => stage(await orm.em.fork().transactional(async em => em)),
  },
  {
    title: 'the transaction has been rolled back',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: async ({ orm }, stage) => {
      const kept: EntityManager[] = [];
      await orm.em
        .fork()
        .transactional(async em => {
          kept.push(em);
          throw new Error('rolled back');
        })
        .catch(() => {});
      await stage(kept[0]!);
    },
  },
  {
    title: 'the transaction of begin() has been committed',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: async ({ orm }, stage) => {
      const em = orm.em.fork();
      await em.begin();
      await em.commit();
      await stage(em);
    },
  },
  {
    title: 'the code was started inside a transaction that has ended since',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: async ({ orm }, stage) => {
      let end!: () => void;
      const ended = new Promise<void>(resolve => (end = resolve));
      const later = await orm.em.fork().transactional(async () => ({
        staged: ended.then(() => stage(orm.em)),
      }));
      end();
      await later.staged;
    },
  },
  {
    title: 'the EntityManager is that of a savepoint, whose transaction has been committed',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: async ({ orm }, stage) =>
      stage(await orm.em.fork().transactional(outer => outer.transactional(async inner => inner))),
  },
  {
    title: 'the EntityManager is that of a savepoint, whose transaction has been rolled back',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: async ({ orm }, stage) => {
      const kept: EntityManager[] = [];
      await orm.em
        .fork()
        .transactional(async outer => {
          await outer.transactional(async inner => void kept.push(inner));
          throw new Error('rolled back');
        })
        .catch(() => {});
      await stage(kept[0]!);
    },
  },
  {
    title: 'the code was started inside a savepoint of a transaction that has ended since',
    code: 'TRANSACTION_REQUIRED',
    message: /needs an explicit transaction/,
    open: async ({ orm }, stage) => {
      let end!: () => void;
      const ended = new Promise<void>(resolve => (end = resolve));
      const later = await orm.em
        .fork()
        .transactional(outer => outer.transactional(async () => ({ staged: ended.then(() => stage(orm.em)) })));
      end();
      await later.staged;
    },
  },
  {
    title: 'it is not given an EntityManager',
    code: 'INVALID_OPTION',
    message: /expected `em` to be an EntityManager/,
    open: (_host, stage) => stage(undefined as unknown as EntityManager),
  },
  {
    title: 'it is given the ORM in place of the EntityManager',
    code: 'INVALID_OPTION',
    message: /expected `em` to be an EntityManager/,
    open: ({ orm }, stage) => stage(orm as unknown as EntityManager),
  },
];

forEachDriver(driver => {
  const host = useHost(driver);

  test.each(refusals)('stage() refuses, before any SQL, when $title', async ({ code, message, open }) => {
    let sent: readonly string[] = ['nothing was staged'];
    const refused = open(host, async em => {
      const staged = host.jobs.stage(em, aSubmission());
      sent = await sentDuring(host, () => staged.catch(() => {}));
      await staged;
    });

    await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(sent).toEqual([]);
    expect(await jobIds(host)).toEqual([]);
  });

  test('an empty list needs a transaction as well', async () => {
    await expect(host.jobs.stage(host.orm.em.fork(), [])).rejects.toMatchObject({ code: 'TRANSACTION_REQUIRED' });
  });

  test.each([
    { title: 'of another ORM', contextName: 'other' },
    { title: 'of another ORM with the same context name', contextName: 'default' },
  ])('stage() refuses an EntityManager $title, also inside its transaction', async ({ contextName }) => {
    const other = await createHost(driver, { contextName });
    const stage = (em: EntityManager) => host.jobs.stage(em, aSubmission());
    const mismatch = {
      code: 'ENTITY_MANAGER_MISMATCH',
      message: expect.stringContaining('belongs to another MikroORM instance'),
    };

    await expect(stage(other.orm.em.fork())).rejects.toMatchObject(mismatch);
    await expect(other.orm.em.fork().transactional(em => stage(em))).rejects.toMatchObject(mismatch);
    await expect(
      host.orm.em
        .fork()
        .transactional(() => other.orm.em.fork({ disableContextResolution: true }).transactional(em => stage(em))),
    ).rejects.toMatchObject(mismatch);

    expect([await jobIds(host), await jobIds(other)]).toEqual([[], []]);
    await dropOrm(other.orm);
  });

  test('the global EntityManager is not taken for this ORM where it resolves to the transaction of another', async () => {
    const other = await createHost(driver);
    const staged = other.orm.em.transactional(() => host.jobs.stage(host.orm.em, aSubmission()));

    await expect(staged).rejects.toMatchObject({ code: 'ENTITY_MANAGER_MISMATCH' });
    expect([await jobIds(host), await jobIds(other)]).toEqual([[], []]);
    await dropOrm(other.orm);
  });

  test('a transaction of another ORM around this one is no obstacle', async () => {
    const other = await createHost(driver);

    await other.orm.em.transactional(() =>
      host.orm.em
        .fork({ disableContextResolution: true })
        .transactional(em => host.jobs.stage(em, aSubmission({ id: 'job-1' }))),
    );

    expect([await jobIds(host), await jobIds(other)]).toEqual([['job-1'], []]);
    await dropOrm(other.orm);
  });
});
