import type { EntityManager as PgEntityManager } from '@mikro-orm/postgresql';
import { expect, test } from '@jest/globals';
import {
  AmbientTransactionError,
  EntityManagerMismatchError,
  TransactionRequiredError,
} from '../../src/core/errors.ts';
import { closeOrm, createOrm, dropOrm, forEachDriver, mikroOrmMajor } from '../support/orm.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { charge, Entry, receipt, step, tables, useShop } from './shop.ts';

forEachDriver(driver => {
  const shop = useShop(driver);

  test('what was staged is seen before the commit, is run, and is gone with the rollback', async () => {
    const { jobs, kit } = shop;
    const handlers = [
      jobs.handler(charge, async job => {
        await job.transactional(async em => {
          em.persist(em.create(Entry, { id: job.payload.orderId, text: job.payload.due.toISOString() }));
        });
      }),
      jobs.handler(receipt, () => {}),
    ];

    await shop.rolledBack(async em => {
      const charged = charge.create(
        { orderId: '1', due: '2026-12-01' },
        { id: '1:charge', scope: 'acme', queue: 'bank' },
      );
      await jobs.stage(em, [charged, receipt.create({ orderId: '1' }, { scope: 'acme', after: [charged] })]);

      expect(await kit.staged(em, charge)).toMatchObject([
        { id: '1:charge', scope: 'acme', queue: 'bank', state: 'queued', payload: { due: new Date('2026-12-01') } },
      ]);
      expect((await kit.staged(em)).map(({ name, state }) => [name, state])).toEqual([
        ['card.charge', 'queued'],
        ['receipt.send', 'awaiting'],
      ]);

      expect(await kit.drain({ em, handlers })).toEqual({ succeeded: 2, failed: 0 });
      expect(await em.find(Entry, {})).toMatchObject([{ id: '1', text: '2026-12-01T00:00:00.000Z' }]);
      expect((await kit.staged(em)).map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
    });

    expect(await shop.countsOf(...tables)).toEqual(tables.map(() => 0));
    expect(shop.log.troubles).toEqual([]);
  });

  test('nothing is told of a job that waited for one that ran there, as it is gone with the rollback', async () => {
    const { jobs, kit } = shop;
    const told: string[] = [];
    const end = jobs.events.subscribe(({ event }) => void told.push(event));

    await shop.rolledBack(async em => {
      const first = step.create({ label: 'first' });
      await jobs.stage(em, [first, step.create({ label: 'second' }, { after: [first] })]);
      expect(await kit.drain({ em, handlers: [shop.step()] })).toEqual({ succeeded: 2, failed: 0 });
    });
    end();

    expect(told).toEqual([]);
  });

  test('the keys of idempotent work are held there too, and are free after the rollback', async () => {
    const { jobs, kit } = shop;
    let calls = 0;
    const handlers = [jobs.handler(step, async job => void (await job.once('a', { ttl: '1d' }, async () => ++calls)))];

    await shop.rolledBack(async em => {
      await jobs.stage(em, [step.create({ label: 'a' }), step.create({ label: 'b' })]);
      expect(await kit.drain({ em, handlers })).toEqual({ succeeded: 2, failed: 0 });
      expect(calls).toBe(1);
    });
    await jobs.submit(step.create({ label: 'c' }));
    await kit.drain({ handlers });

    expect(calls).toBe(2);
  });

  test('a transaction that was begun by hand will do', async () => {
    const { jobs, kit } = shop;
    const em = shop.orm.em.fork();
    await em.begin();
    await jobs.stage(em, step.create({ label: 'a' }));

    const result = await kit.drain({
      em,
      handlers: [
        jobs.handler(step, job => job.transactional(async inner => void inner.create(Entry, { id: 'a', text: '' }))),
      ],
    });
    const entries = await em.find(Entry, {});
    await em.rollback();

    expect([result, entries.length]).toEqual([{ succeeded: 1, failed: 0 }, 1]);
    expect(await shop.countsOf(...tables)).toEqual(tables.map(() => 0));
  });

  test('handlers see what the test left unflushed, and each has a clean EntityManager that injected ones resolve to', async () => {
    const { jobs, kit } = shop;
    const seen: unknown[] = [];

    await shop.rolledBack(async em => {
      const entry = em.create(Entry, { id: 'order', text: 'new' });
      await jobs.stage(em, step.create({ label: 'a' }));

      await kit.drain({
        em,
        throwErrors: true,
        handlers: [
          jobs.handler(step, async job => {
            const found = await shop.orm.em.findOneOrFail(Entry, 'order');
            seen.push(found.text, found === entry, (await job.em.findOne(Entry, 'order')) === found);
          }),
        ],
      });
    });

    expect(seen).toEqual(['new', false, true]);
  });

  test('what a handler flushed stays when it throws, and what it left unflushed is not written', async () => {
    const { jobs, kit } = shop;

    await shop.rolledBack(async em => {
      await jobs.stage(em, [step.create({ label: 'throws' }), step.create({ label: 'returns' })]);
      await kit.drain({
        em,
        handlers: [
          jobs.handler(step, async job => {
            job.em.create(Entry, { id: `${job.payload.label}, flushed`, text: '' });
            await job.em.flush();
            job.em.create(Entry, { id: `${job.payload.label}, unflushed`, text: '' });
            if (job.payload.label === 'throws') throw new Error('no');
          }),
        ],
      });

      expect((await em.find(Entry, {}, { orderBy: { id: 'asc' } })).map(({ id }) => id)).toEqual([
        'returns, flushed',
        'throws, flushed',
      ]);
    });
  });

  test('a statement that fails in one handler spoils neither the others nor the transaction', async () => {
    const { jobs, kit } = shop;

    await shop.rolledBack(async em => {
      await em.insert(Entry, { id: 'taken', text: '' });
      await jobs.stage(em, [step.create({ label: 'taken' }), step.create({ label: 'free' })]);

      const result = await kit.drain({
        em,
        handlers: [jobs.handler(step, job => job.em.insert(Entry, { id: job.payload.label, text: '' }).then(() => {}))],
      });

      expect([result.succeeded, result.rescheduled]).toEqual([1, 1]);
      expect((result.errors[0]!.error as Error).name).toBe('UniqueConstraintViolationException');
      expect(await em.count(Entry)).toBe(2);
    });
  });

  test('so it is when the handler catches the error, which takes the savepoint with it on PostgreSQL', async () => {
    const { jobs, kit } = shop;

    await shop.rolledBack(async em => {
      await em.insert(Entry, { id: 'taken', text: '' });
      await jobs.stage(em, [step.create({ label: 'taken' }), step.create({ label: 'free' })]);

      const result = await kit.drain({
        em,
        handlers: [
          jobs.handler(step, async job => {
            await job.em.insert(Entry, { id: job.payload.label, text: '' }).catch(() => {});
          }),
        ],
      });

      expect([result.succeeded, result.rescheduled]).toEqual(driver === 'postgresql' ? [1, 1] : [2, 0]);
      expect(await em.count(Entry)).toBe(2);
    });
  });

  test.each(['throws it', 'catches it'])(
    'a statement that fails after transactional() takes nothing of that with it when the handler %s',
    async reaction => {
      const { jobs, kit } = shop;

      await shop.rolledBack(async em => {
        await em.insert(Entry, { id: 'taken', text: '' });
        await jobs.stage(em, [step.create({ label: 'a' }), step.create({ label: 'b' })]);
        const result = await kit.drain({
          em,
          handlers: [
            jobs.handler(step, async job => {
              const insert = (id: string) => job.em.insert(Entry, { id, text: '' });
              await insert(`before ${job.payload.label}`);
              await job.transactional(
                async inner => void (await inner.insert(Entry, { id: job.payload.label, text: '' })),
              );
              await insert('taken').catch(error => {
                if (reaction === 'throws it') throw error;
              });
            }),
          ],
        });

        expect(result).toEqual({ succeeded: 2, failed: 0 });
        expect((await kit.staged(em)).map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
        const entries = await em.fork({ keepTransactionContext: true }).find(Entry, {}, { orderBy: { id: 'asc' } });
        expect(entries.map(({ id }) => id)).toEqual(['a', 'b', 'before a', 'before b', 'taken']);
      });
    },
  );

  if (driver === 'postgresql' && mikroOrmMajor === 7) {
    test('a time limit cancels the statement that transactional() waits for, and spoils nothing else', async () => {
      const { jobs, kit } = shop;

      await shop.rolledBack(async em => {
        await jobs.stage(em, step.create({ label: 'slow' }, { timeout: 50 }));
        const handler = jobs.handler(step, job =>
          job.transactional(async inner => {
            await inner.insert(Entry, { id: 'slow', text: '' });
            await (inner as PgEntityManager).execute('select pg_sleep(3600)');
          }),
        );

        expect(await kit.drain({ em, handlers: [handler] })).toMatchObject({ succeeded: 0, failed: 1 });
        expect(await em.count(Entry)).toBe(0);
      });
    });
  }

  test('a failing transactional() is rolled back and the rest of the transaction is not', async () => {
    const { jobs, kit } = shop;

    await shop.rolledBack(async em => {
      await jobs.stage(em, [step.create({ label: 'throws' }), step.create({ label: 'returns' })]);
      const result = await kit.drain({
        em,
        handlers: [
          jobs.handler(step, job =>
            job.transactional(async inner => {
              inner.create(Entry, { id: job.payload.label, text: '' });
              await inner.flush();
              if (job.payload.label === 'throws') throw new Error('no');
              await jobs.stage(inner, receipt.create({ orderId: '1' }));
              return 'entry/returns';
            }),
          ),
        ],
      });

      expect(result).toMatchObject({ succeeded: 1, failed: 0, rescheduled: 1 });
      expect((await em.find(Entry, {})).map(({ id }) => id)).toEqual(['returns']);
      expect((await kit.staged(em)).map(({ state, resultRef }) => [state, resultRef])).toEqual([
        ['queued', null],
        ['succeeded', 'entry/returns'],
        ['queued', null],
      ]);
    });
  });

  test('transactional() inside a transaction of the handler is refused, as in an executor', async () => {
    const { jobs, kit } = shop;
    const handlers = [
      jobs.handler(step, job => job.em.transactional(() => job.transactional(() => Promise.resolve()))),
    ];
    await shop.submit('beside');
    const beside = await kit.drain({ handlers });

    await shop.rolledBack(async em => {
      await jobs.stage(em, step.create({ label: 'inside' }));
      const inside = await kit.drain({ em, handlers });

      expect([beside, inside].map(({ errors }) => errors[0]!.error)).toEqual([
        expect.any(AmbientTransactionError),
        expect.any(AmbientTransactionError),
      ]);
    });
  });

  test('after a commit instead of a rollback everything is there', async () => {
    const { jobs, kit } = shop;
    await shop.orm.em.fork().transactional(async em => {
      await jobs.stage(em, [step.create({ label: 'a' }, { id: 'a' }), receipt.create({ orderId: '1' }, { id: 'r' })]);
      await kit.drain({ em, handlers: [shop.step()] });
    });

    expect((await jobs.scope('').get('a'))!.state).toBe('succeeded');
    expect(await kit.staged(shop.orm.em.fork(), receipt)).toMatchObject([{ id: 'r', state: 'queued' }]);
  });

  test('a drain needs to be told of the transaction that it is called in, and of no other', async () => {
    const { jobs, kit, orm } = shop;
    const handlers = [shop.step()];
    const other = await createOrm(driver, jobEntities);

    try {
      await expect(kit.drain({ em: orm.em.fork() as never, handlers })).rejects.toThrow(TransactionRequiredError);
      await expect(kit.drain({ em: orm.em.fork() as never, handlers })).rejects.toThrow('drain() needs');
      await shop.rolledBack(async em => {
        await jobs.stage(em, step.create({ label: 'a' }));
        await expect(kit.drain({ handlers })).rejects.toThrow(AmbientTransactionError);
        await expect(kit.drain({ em: orm.em.fork() as never, handlers })).rejects.toThrow(EntityManagerMismatchError);
        await expect(kit.staged(orm.em.fork() as never)).rejects.toThrow(AmbientTransactionError);
        expect(await kit.staged(orm.em as never, step)).toHaveLength(1);
      });
      await other.em.transactional(async em => {
        await expect(kit.drain({ em: em as never, handlers })).rejects.toThrow(EntityManagerMismatchError);
        await expect(kit.staged(em as never)).rejects.toThrow(EntityManagerMismatchError);
      });
    } finally {
      await closeOrm(other);
      await dropOrm(other).catch(() => {});
    }

    expect(shop.ran).toEqual([]);
  });
});
