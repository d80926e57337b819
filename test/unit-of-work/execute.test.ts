import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { JobIdentityConflictError } from '../../src/core/errors.ts';
import {
  ConcurrentUnitError,
  UnitControlError,
  UnitEndedError,
  UnitRolledBackError,
} from '../../src/unit-of-work/errors.ts';
import type { Unit } from '../../src/unit-of-work/unit.ts';
import { dbNameOf, dropOrm, forEachDriver } from '../support/orm.ts';
import {
  aMessage,
  createWorld,
  gate,
  nothingStored,
  Payment,
  refresh,
  sendReceipt,
  stored,
  type Em,
  type World,
  type WorldOptions,
} from './world.ts';

forEachDriver(driver => {
  let world: World;

  beforeAll(async () => {
    world = await createWorld(driver);
  });

  beforeEach(async () => {
    world = await refresh(world);
  });

  afterAll(() => dropOrm(world.orm));

  /** A database of its own, for what can't be swept up. */
  async function inOwnWorld(run: (own: World) => Promise<void>, options: WorldOptions = {}): Promise<void> {
    const own = await createWorld(driver, options);
    await run(own).finally(() => dropOrm(own.orm));
  }

  /** Some of everything. */
  async function writeAll({ em, stage, outbox }: Unit<Em>, id = '1'): Promise<void> {
    em.persist(new Payment(id));
    await stage(sendReceipt.create({ payment: id }, { id }));
    outbox.add(aMessage({ id }));
  }

  const all = (...ids: string[]) => ({ payments: ids, jobs: ids, outbox: ids, inbox: [] });

  /** What the query log says of the transaction, in order; MikroORM writes a begin with its level, before or after. */
  const steps = () =>
    world.queries
      .map(query =>
        /^(?:begin|start transaction|commit|rollback|savepoint|release|insert into (?:"public"\.)?.(\w+))/i.exec(query),
      )
      .filter(step => step !== null)
      .map(([step, table]) => table ?? step.toLowerCase().replace('start transaction', 'begin'));

  describe('one transaction', () => {
    test('commits business rows, jobs and outgoing messages together, and answers what work returned', async () => {
      const answer = await world.unitOfWork.execute(async unit => {
        await writeAll(unit);
        return 'done';
      });

      expect(answer).toBe('done');
      expect(await stored(world)).toEqual(all('1'));
    });

    test('stores nothing of any of them when work throws, and rejects with what it threw', async () => {
      const error = new Error('no');

      const execute = world.unitOfWork.execute(async unit => {
        await writeAll(unit);
        await unit.em.flush();
        throw error;
      });

      await expect(execute).rejects.toBe(error);
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('stores nothing of any of them when the last flush fails', async () => {
      await world.unitOfWork.execute(async unit => writeAll(unit));

      const execute = world.unitOfWork.execute(async ({ em, stage, outbox }) => {
        em.persist(new Payment('1'));
        await stage(sendReceipt.create({ payment: '2' }, { id: '2' }));
        outbox.add(aMessage({ id: '2' }));
      });

      await expect(execute).rejects.toThrow(/unique|duplicate/i);
      expect(await stored(world)).toEqual(all('1'));
    });

    test('has one begin and one commit, with the outgoing messages directly before the commit', async () => {
      world.queries.length = 0;

      await world.unitOfWork.execute(async unit => writeAll(unit));

      expect(steps()).toEqual(['begin', 'durable_job', 'payment', 'durable_outbox_message', 'commit']);
    });

    test('flushes once', async () => {
      let flushes = 0;

      await world.unitOfWork.execute(async unit => {
        unit.em.getEventManager().registerSubscriber({ beforeFlush: () => void flushes++ });
        await writeAll(unit);
      });

      expect(flushes).toBe(1);
    });

    test('takes jobs and messages from the hooks of that flush', async () => {
      await world.unitOfWork.execute(async ({ em, stage, outbox }) => {
        em.getEventManager().registerSubscriber({
          afterCreate: async () => {
            outbox.add(aMessage({ id: '1' }));
            await stage(sendReceipt.create({ payment: '1' }, { id: '1' }));
          },
        });
        em.persist(new Payment('1'));
      });

      expect(await stored(world)).toEqual(all('1'));
    });

    test('waits for what the hooks of that flush did not await, and fails with it', async () => {
      const execute = world.unitOfWork.execute(async ({ em, stage }) => {
        await stage(sendReceipt.create({ payment: '1' }, { id: '1' }));
        em.getEventManager().registerSubscriber({
          afterCreate: () => void stage(sendReceipt.create({ payment: 'another' }, { id: '1' })),
        });
        em.persist(new Payment('1'));
      });

      await expect(execute).rejects.toMatchObject({ cause: expect.any(JobIdentityConflictError) });
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('is what the global EntityManager works in, inside of work', async () => {
      const execute = world.unitOfWork.execute(async ({ em }) => {
        world.orm.em.persist(new Payment('1'));
        await world.orm.em.flush();
        expect(await em.findOne(Payment, '1')).not.toBeNull();
        throw new Error('no');
      });

      await expect(execute).rejects.toThrow('no');
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('begins with an EntityManager that knows nothing of a failed one before it', async () => {
      const failed = world.unitOfWork.execute(async unit => {
        await writeAll(unit, '1');
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');

      await world.unitOfWork.execute(async unit => {
        expect(unit.em.getUnitOfWork().getPersistStack().size).toBe(0);
        await writeAll(unit, '2');
      });

      expect(await stored(world)).toEqual(all('2'));
    });

    test('leaves nothing in a failed EntityManager that a later flush of it could write', async () => {
      let em!: Em;
      const failed = world.unitOfWork.execute(async unit => {
        em = unit.em;
        unit.em.persist(new Payment('1'));
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');

      expect(em.getUnitOfWork().getPersistStack().size).toBe(0);
      expect([...em.getUnitOfWork().getIdentityMap()]).toEqual([]);
    });

    test('waits for stages that work did not await', async () => {
      await world.unitOfWork.execute(async ({ stage }) => {
        void stage(sendReceipt.create({ payment: '1' }, { id: '1' }));
        void stage([
          sendReceipt.create({ payment: '2' }, { id: '2' }),
          sendReceipt.create({ payment: '3' }, { id: '3' }),
        ]);
      });

      expect((await stored(world)).jobs).toEqual(['1', '2', '3']);
    });

    test('stages the same job ten times at once as one', async () => {
      const results = await world.unitOfWork.execute(({ stage }) =>
        Promise.all(Array.from({ length: 10 }, () => stage(sendReceipt.create({ payment: '1' }, { id: '1' })))),
      );

      expect(results.filter(({ created }) => created)).toHaveLength(1);
      expect((await stored(world)).jobs).toEqual(['1']);
    });
  });

  describe('failures that were caught', () => {
    test('a conflicting stage rolls everything back, early flushes included', async () => {
      await world.unitOfWork.execute(async ({ stage }) => {
        await stage(sendReceipt.create({ payment: '1' }, { id: '1' }));
      });

      const execute = world.unitOfWork.execute(async ({ em, stage, outbox }) => {
        em.persist(new Payment('2'));
        await em.flush();
        outbox.add(aMessage({ id: '2' }));
        await stage(sendReceipt.create({ payment: 'another' }, { id: '1' })).catch(() => {});
      });

      await expect(execute).rejects.toBeInstanceOf(UnitRolledBackError);
      await expect(execute).rejects.toMatchObject({ cause: expect.any(JobIdentityConflictError) });
      expect(await stored(world)).toEqual({ ...nothingStored, jobs: ['1'] });
    });

    test('a stage that was neither awaited nor caught does, too', async () => {
      const execute = world.unitOfWork.execute(async ({ em, stage }) => {
        em.persist(new Payment('1'));
        void stage(sendReceipt.create({ payment: '1' }, { id: '1' }));
        void stage(sendReceipt.create({ payment: '2' }, { id: '1' }));
      });

      await expect(execute).rejects.toMatchObject({
        code: 'UNIT_ROLLED_BACK',
        cause: expect.any(JobIdentityConflictError),
      });
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('a refused outgoing message does, too', async () => {
      const execute = world.unitOfWork.execute(async ({ em, outbox }) => {
        em.persist(new Payment('1'));
        expect(() => outbox.add(aMessage({ id: '' }))).toThrow('`id`');
      });

      await expect(execute).rejects.toMatchObject({ code: 'UNIT_ROLLED_BACK', cause: { code: 'INVALID_MESSAGE' } });
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('a failed flush does, even after the EntityManager was cleared', async () => {
      await world.unitOfWork.execute(async ({ em }) => void em.persist(new Payment('1')));

      const execute = world.unitOfWork.execute(async ({ em }) => {
        em.persist(new Payment('2'));
        await em.flush();
        em.persist(new Payment('1'));
        await em.flush().catch(() => {});
        em.clear();
      });

      await expect(execute).rejects.toBeInstanceOf(UnitRolledBackError);
      expect((await stored(world)).payments).toEqual(['1']);
    });

    test('a savepoint that was rolled back does not: that is what it is for', async () => {
      await world.unitOfWork.execute(async ({ em }) => void em.persist(new Payment('1')));

      await world.unitOfWork.execute(async ({ em }) => {
        await em.transactional(async inner => void inner.persist(new Payment('1'))).catch(() => {});
        em.persist(new Payment('2'));
      });

      expect((await stored(world)).payments).toEqual(['1', '2']);
    });

    if (driver === 'postgresql') {
      test('a statement that PostgreSQL refused is found before the commit, which would be a silent rollback', async () => {
        const execute = world.unitOfWork.execute(async ({ em }) => {
          await em.execute(`insert into payment (id, amount) values ('1', 1)`);
          await em.execute(`insert into payment (id, amount) values ('1', 1)`).catch(() => {});
        });

        await expect(execute).rejects.toMatchObject({ code: 'UNIT_ROLLED_BACK', cause: { code: '25P02' } });
        expect(await stored(world)).toEqual(nothingStored);
      });

      test('a commit that the database refuses rejects and leaves nothing', async () => {
        await inOwnWorld(async own => {
          await own.orm.em
            .fork()
            .execute(
              'create table deferred (id int primary key, parent int references deferred deferrable initially deferred)',
            );

          const execute = own.unitOfWork.execute(async unit => {
            await writeAll(unit);
            await unit.em.execute('insert into deferred values (1, 2)');
          });

          await expect(execute).rejects.toThrow(/foreign key/);
          expect(await stored(own)).toEqual(nothingStored);
        });
      });
    }
  });

  describe('nested executes', () => {
    test('join the transaction: one begin, one commit, no savepoint', async () => {
      world.queries.length = 0;

      const answer = await world.unitOfWork.execute(async outer => {
        await writeAll(outer, '1');
        return world.unitOfWork.execute(async inner => {
          expect(inner.em).toBe(outer.em);
          await writeAll(inner, '2');
          return 'inner';
        });
      });

      expect(answer).toBe('inner');
      expect(steps().filter(step => !/_|payment/.test(step))).toEqual(['begin', 'commit']);
      expect(await stored(world)).toEqual(all('1', '2'));
    });

    test('are rolled back with the outer one', async () => {
      const execute = world.unitOfWork.execute(async () => {
        await world.unitOfWork.execute(inner => writeAll(inner, '2'));
        throw new Error('outer');
      });

      await expect(execute).rejects.toThrow('outer');
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('that fail take the outer one along, though it caught the error', async () => {
      const error = new Error('inner');

      const execute = world.unitOfWork.execute(async outer => {
        await writeAll(outer, '1');
        await world.unitOfWork.execute(() => Promise.reject(error)).catch(() => {});
        return 'fine';
      });

      await expect(execute).rejects.toMatchObject({ code: 'UNIT_ROLLED_BACK', cause: error });
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('are waited for when work did not await them', async () => {
      const release = gate();

      const execute = world.unitOfWork.execute(async () => {
        void world.unitOfWork.execute(async inner => {
          await release.promise;
          await writeAll(inner, '1');
        });
        setImmediate(() => release.resolve());
      });
      await execute;

      expect(await stored(world)).toEqual(all('1'));
    });

    test('are refused while another one runs, and that rolls everything back', async () => {
      const execute = world.unitOfWork.execute(async outer => {
        const release = gate();
        await writeAll(outer, '1');
        const first = world.unitOfWork.execute(async inner => {
          await release.promise;
          await writeAll(inner, '2');
        });
        await expect(world.unitOfWork.execute(inner => writeAll(inner, '3'))).rejects.toBeInstanceOf(
          ConcurrentUnitError,
        );
        release.resolve();
        await first;
      });

      await expect(execute).rejects.toMatchObject({ code: 'UNIT_ROLLED_BACK', cause: expect.any(ConcurrentUnitError) });
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('may follow one another, and be nested deeper', async () => {
      await world.unitOfWork.execute(async () => {
        await world.unitOfWork.execute(inner => writeAll(inner, '1'));
        await world.unitOfWork.execute(async () => {
          await world.unitOfWork.execute(inner => writeAll(inner, '2'));
        });
      });

      expect(await stored(world)).toEqual(all('1', '2'));
    });

    test('and outgoing messages are refused inside a savepoint, which they could not follow', async () => {
      const execute = world.unitOfWork.execute(async ({ em, outbox }) => {
        await em.transactional(async () => {
          expect(() => outbox.add(aMessage())).toThrow('savepoint');
          await expect(world.unitOfWork.execute(async () => {})).rejects.toThrow('savepoint');
        });
      });

      await expect(execute).rejects.toMatchObject({
        code: 'UNIT_ROLLED_BACK',
        cause: { code: 'ENTITY_MANAGER_MISMATCH' },
      });
      expect(await stored(world)).toEqual(nothingStored);
    });
  });

  describe('several at once', () => {
    test('are units of their own on one instance: each commits or fails by itself', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) =>
          world.unitOfWork.execute(async unit => {
            await writeAll(unit, String(index));
            if (index % 2 === 1) throw new Error('odd');
            return unit.em;
          }),
        ),
      );

      const ems = results.filter(result => result.status === 'fulfilled').map(({ value }) => value);
      expect(new Set(ems).size).toBe(4);
      expect({ ...(await stored(world)), outbox: (await stored(world)).outbox.sort() }).toEqual(
        all('0', '2', '4', '6'),
      );
    });

    if (driver === 'postgresql') {
      test('really run at once', async () => {
        const [first, second] = [gate(), gate()];

        await Promise.all([
          world.unitOfWork.execute(async unit => {
            first.resolve();
            await second.promise;
            await writeAll(unit, '1');
          }),
          world.unitOfWork.execute(async unit => {
            second.resolve();
            await first.promise;
            await writeAll(unit, '2');
          }),
        ]);

        expect((await stored(world)).payments).toEqual(['1', '2']);
      });
    }
  });

  describe('a unit', () => {
    test('is refused in every use after its end', async () => {
      const unit = await world.unitOfWork.execute(async unit => unit);

      expect(() => unit.em).toThrow(UnitEndedError);
      expect(() => unit.outbox.add(aMessage())).toThrow(UnitEndedError);
      await expect(unit.stage(sendReceipt.create({ payment: '1' }))).rejects.toBeInstanceOf(UnitEndedError);
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('of a nested execute ends with that, and its later use rolls the outer one back', async () => {
      const execute = world.unitOfWork.execute(async outer => {
        await writeAll(outer);
        const inner = await world.unitOfWork.execute(async unit => unit);
        expect(() => inner.em).toThrow(UnitEndedError);
        expect(() => inner.outbox.add(aMessage())).toThrow(UnitEndedError);
      });

      await expect(execute).rejects.toMatchObject({ code: 'UNIT_ROLLED_BACK', cause: expect.any(UnitEndedError) });
      expect(await stored(world)).toEqual(nothingStored);
    });
  });

  describe('the transaction', () => {
    const ends = {
      'commit on its EntityManager': ({ em }: Unit<Em>) => em.commit(),
      'roll back on its EntityManager': ({ em }: Unit<Em>) => em.rollback(),
      'begin on its EntityManager': ({ em }: Unit<Em>) => em.begin(),
      'commit on the global EntityManager': () => world.orm.em.commit(),
      'roll back on the global EntityManager': () => world.orm.em.rollback(),
      'begin on the global EntityManager': () => world.orm.em.begin(),
    };

    test.each(Object.keys(ends) as (keyof typeof ends)[])(
      'is not for work to %s: that is refused and rolls back',
      async end => {
        const execute = world.unitOfWork.execute(async unit => {
          await writeAll(unit, '1');
          await unit.em.flush();
          await ends[end](unit).catch(() => {});
          await writeAll(unit, '2');
        });

        await expect(execute).rejects.toMatchObject({ code: 'UNIT_ROLLED_BACK', cause: expect.any(UnitControlError) });
        expect(await stored(world)).toEqual(nothingStored);
      },
    );

    test('that work takes from its EntityManager is missed before anything is flushed elsewhere', async () => {
      const execute = world.unitOfWork.execute(async unit => {
        await writeAll(unit, '1');
        unit.em.resetTransactionContext();
      });

      await expect(execute).rejects.toMatchObject({ cause: expect.any(UnitControlError) });
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('that is ended beneath its EntityManager is not taken for committed', async () => {
      const execute = world.unitOfWork.execute(({ em }) => em.getConnection().rollback(em.getTransactionContext()!));

      await expect(execute).rejects.toThrow();
    });

    test('is refused inside a transaction that a host opened', async () => {
      const work = (unit: Unit<Em>) => writeAll(unit);

      await world.orm.em.fork().transactional(async () => {
        await expect(world.unitOfWork.execute(work)).rejects.toMatchObject({ code: 'AMBIENT_TRANSACTION' });
      });

      expect(await stored(world)).toEqual(nothingStored);
    });

    if (driver === 'postgresql') {
      test('is READ COMMITTED whatever the default of the database', async () => {
        await inOwnWorld(async ({ orm, unitOfWork }) => {
          await orm.em
            .fork()
            .execute(`alter database ${dbNameOf(orm)} set default_transaction_isolation = 'serializable'`);
          await orm.close(true);
          await orm.connect();

          const levels = await unitOfWork.execute(({ em }) => em.execute('show transaction_isolation'));

          expect(await orm.em.fork().execute('show transaction_isolation')).toEqual([
            { transaction_isolation: 'serializable' },
          ]);
          expect(levels).toEqual([{ transaction_isolation: 'read committed' }]);
        });
      });
    } else {
      test('is given no level where there are none', async () => {
        await world.unitOfWork.execute(unit => writeAll(unit));

        expect(world.queries.filter(query => /isolation/i.test(query))).toEqual([]);
      });
    }
  });

  describe('a signal', () => {
    const reason = new Error('stopped');

    test('that is aborted before keeps work from being called and anything from being sent', async () => {
      world.queries.length = 0;
      let isCalled = false;

      const execute = world.unitOfWork.execute(async () => void (isCalled = true), {
        signal: AbortSignal.abort(reason),
      });

      await expect(execute).rejects.toBe(reason);
      expect(isCalled).toBe(false);
      expect(world.queries).toEqual([]);
    });

    test('that is aborted inside of work rolls back though work returned', async () => {
      const controller = new AbortController();

      const execute = world.unitOfWork.execute(
        async unit => {
          await writeAll(unit);
          controller.abort(reason);
          expect(unit.signal.reason).toBe(reason);
        },
        { signal: controller.signal },
      );

      await expect(execute).rejects.toBe(reason);
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('that is aborted during the last flush rolls back, and no more is written', async () => {
      const controller = new AbortController();

      const execute = world.unitOfWork.execute(
        async unit => {
          await writeAll(unit);
          unit.em.getEventManager().registerSubscriber({ afterFlush: () => controller.abort(reason) });
        },
        { signal: controller.signal },
      );

      await expect(execute).rejects.toBe(reason);
      expect(steps()).toEqual(['begin', 'durable_job', 'payment', 'rollback']);
      expect(await stored(world)).toEqual(nothingStored);
    });

    test('that is aborted while the outgoing messages are written rolls back', async () => {
      const controller = new AbortController();
      const onQuery = (sql: string) => {
        if (sql.startsWith('insert into') && sql.includes('durable_outbox_message')) controller.abort(reason);
        return sql;
      };

      await inOwnWorld(
        async own => {
          await expect(own.unitOfWork.execute(writeAll, { signal: controller.signal })).rejects.toBe(reason);
          expect(await stored(own)).toEqual(nothingStored);
        },
        { onQuery },
      );
    });

    test('of a nested execute fails the outer one', async () => {
      const execute = world.unitOfWork.execute(async unit => {
        await writeAll(unit);
        await world.unitOfWork.execute(async () => {}, { signal: AbortSignal.abort(reason) }).catch(() => {});
      });

      await expect(execute).rejects.toMatchObject({ code: 'UNIT_ROLLED_BACK', cause: reason });
      expect(await stored(world)).toEqual(nothingStored);
    });
  });
});
