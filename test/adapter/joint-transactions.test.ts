import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { JointTransactions } from '../../src/adapter/joint-transactions.ts';
import { OwnSession } from '../../src/adapter/own-session.ts';
import type { Run } from '../../src/adapter/session.ts';
import { sqlDialectOf } from '../../src/adapter/sql-dialect-of.ts';
import { sql } from '../../src/adapter/sql/statement.ts';
import { ConnectionTimeoutError } from '../../src/core/errors.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { createOrm, dropOrm, forEachDriver, type OrmOptions, type TestOrm } from '../support/orm.ts';
import { StatementLog } from './store/statement-log.ts';

forEachDriver(driver => {
  const log = new StatementLog();
  let orm: TestOrm;
  let session: OwnSession;
  beforeEach(async () => {
    // One connection: none is still connecting for a call that was given up when the ORM is closed.
    orm = await createOrm(driver, jobEntities, { ...log.options, pool: { min: 0, max: 1 } } as OrmOptions);
    session = new OwnSession(orm.em as never, sqlDialectOf(orm.em as never), Math.random, null);
  });
  afterEach(() => dropOrm(orm));

  const pause = (name: string) => (run: Run) =>
    run(sql`insert into durable_job_queue (name, paused, updated_at) values (${name}, ${true}, ${5})`);

  async function stored(): Promise<string[]> {
    const rows = await orm.em.fork().execute('select name from durable_job_queue order by name');
    return rows.map(({ name }) => String(name));
  }

  async function commitsOf(call: () => Promise<unknown>): Promise<number> {
    return (await log.of(call)).filter(statement => /^commit/i.test(statement)).length;
  }

  test('transactions of one moment share a commit where there is one writer', async () => {
    const ofOne = await commitsOf(() => session.atomically(pause('a')));
    const ofThree = await commitsOf(() => Promise.all(['b', 'c', 'd'].map(name => session.atomically(pause(name)))));

    expect(ofOne).toBeGreaterThan(0);
    expect(ofThree).toBe(driver === 'sqlite' ? ofOne : 3 * ofOne);
    expect(await stored()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('so do those of two turns of the event loop that follow each other: what ended, and what is claimed next', async () => {
    const inNextTurn = async (name: string) => (await nextTurn(), session.atomically(pause(name)));

    const ofOne = await commitsOf(() => inNextTurn('a'));
    const ofTwo = await commitsOf(() => Promise.all([inNextTurn('b'), inNextTurn('c')]));

    expect(ofTwo).toBe(driver === 'sqlite' ? ofOne : 2 * ofOne);
    expect(await stored()).toEqual(['a', 'b', 'c']);
  });

  test('each is answered with its own result', async () => {
    const results = ['a', 'b', 'c'].map(name => session.atomically(async run => (await pause(name)(run), name)));

    expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
  });

  test('more than go together are all stored', async () => {
    const names = Array.from({ length: 35 }, (_, index) => `queue ${String(index).padStart(2, '0')}`);

    await Promise.all(names.map(name => session.atomically(pause(name))));

    expect(await stored()).toEqual(names);
  });

  test.each(['statement', 'code'])('one whose %s fails takes no other of its moment with it', async what => {
    const failing = async (run: Run) => {
      await pause('half')(run);
      if (what === 'code') throw new Error('not this one');
      await run(sql`insert into durable_job_queue (name) values (${'incomplete'})`);
    };

    const outcomes = await Promise.allSettled([
      session.atomically(pause('before')),
      session.atomically(failing),
      session.atomically(pause('after')),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual(['after', 'before']);
  });

  const again = {
    sqlite: [
      'SQLITE_BUSY',
      'SQLITE_BUSY_SNAPSHOT',
      'SQLITE_BUSY_RECOVERY',
      'SQLITE_LOCKED',
      'SQLITE_LOCKED_SHAREDCACHE',
    ],
    postgresql: ['40001', '40P01'],
  };

  test.each(again[driver])(
    'what the database asks for again (%s) is repeated, and nothing is stored twice or lost',
    async code => {
      let tries = 0;
      const busy = async (run: Run) => {
        await pause('busy')(run);
        if (++tries < 3) throw Object.assign(new Error('again'), { code });
      };

      await Promise.all([
        session.atomically(pause('before')),
        session.atomically(busy),
        session.atomically(pause('after')),
      ]);

      expect(tries).toBe(3);
      expect(await stored()).toEqual(['after', 'before', 'busy']);
    },
  );

  test('all are refused when the table is gone, and work when it is back', async () => {
    await orm.em.fork().execute('alter table durable_job_queue rename to away');
    const refused = await Promise.allSettled([session.atomically(pause('a')), session.atomically(pause('b'))]);
    await orm.em.fork().execute('alter table away rename to durable_job_queue');

    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await session.atomically(pause('c'));
    expect(await stored()).toEqual(['c']);
  });

  test('all are refused when the commit fails, and none is run again: it may have been one', async () => {
    const ran: string[] = [];
    const transactions = new JointTransactions(async work => {
      await work(() => Promise.resolve([]));
      throw new Error('no answer to the commit');
    });

    const calls = ['a', 'b'].map(name =>
      transactions.run(
        async () => void ran.push(name),
        () => {},
      ),
    );

    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'no answer to the commit' } });
    }
    expect(ran).toEqual(['a', 'b']);
  });

  test('all are refused when no transaction can be begun', async () => {
    const transactions = new JointTransactions(() => Promise.reject(new Error('no connection')));

    const calls = ['a', 'b'].map(name => transactions.run(pause(name), () => {}));

    for (const call of calls) await expect(call).rejects.toThrow('no connection');
  });

  test('a transaction that is not begun is asked for once, and takes none with it that came since', async () => {
    let tries = 0;
    let late: Promise<unknown> | undefined;
    const transactions = new JointTransactions(async work => {
      if (++tries > 1) return session.atomically(work);
      late = transactions.run(pause('late'), () => {});
      throw new Error('no connection');
    });

    const outcomes = await Promise.allSettled(['a', 'b'].map(name => transactions.run(pause(name), () => {})));
    await late;

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(tries).toBe(2);
    expect(await stored()).toEqual(['late']);
  });

  if (driver === 'sqlite') {
    test('what waits for a connection of a closed ORM holds up nothing after that is opened again', async () => {
      await dropOrm(orm);
      orm = await createOrm(driver, jobEntities, { file: true });
      session = new OwnSession(orm.em as never, sqlDialectOf(orm.em as never), Math.random, null);
      await session.atomically(pause('before'));
      const em = orm.em.fork();
      await em.begin();
      session.atomically(pause('waiting')).catch(() => {});
      for (let turn = 0; turn < 4; turn++) await nextTurn();

      const closed = orm.close(true);
      await nextTurn();
      await orm.connect();
      await session.atomically(pause('after'));

      expect(await stored()).toEqual(['after', 'before']);
      await em.rollback().catch(() => {});
      await closed;
    });
  }

  test('one that nobody waits for any more is not sent with the others', async () => {
    const impatient = session.within({
      ms: 400,
      operation: 'pause()',
      ringAfter: (_, ring) => (ring(), () => {}),
    });

    const outcomes = await Promise.allSettled([
      session.atomically(pause('before')),
      impatient.atomically(pause('given up')),
      session.atomically(pause('after')),
    ]);

    expect(outcomes[1]).toMatchObject({ status: 'rejected', reason: expect.any(ConnectionTimeoutError) });
    expect(await stored()).toEqual(['after', 'before']);
  });

  test('each is sent in the context of its own call', async () => {
    const request = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const ask = (name: string) =>
      request.run(name, () => session.atomically(async run => (seen.push(request.getStore()), pause(name)(run))));

    await Promise.all([ask('a'), ask('b')]);

    expect(seen.sort()).toEqual(['a', 'b']);
  });

  test('a transaction is begun in the context of a call that it is for, not of one that has ended', async () => {
    const request = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const transactions = new JointTransactions(work => (seen.push(request.getStore()), session.atomically(work)));
    const ask = (name: string, work: (run: Run) => Promise<unknown> = pause(name)) =>
      request.run(name, () => transactions.run(work, () => {}));
    let second: Promise<unknown> | undefined;

    await ask('a', async run => (await pause('a')(run), void (second = ask('b'))));
    await second;

    expect(seen).toEqual(['a', 'b']);
  });
});
