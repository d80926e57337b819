import { afterEach, expect, test } from '@jest/globals';
import { OwnSession } from '../../src/adapter/own-session.ts';
import { preparedStatementsOf } from '../../src/adapter/prepared-statements-of.ts';
import type { Session } from '../../src/adapter/session.ts';
import { sqlDialectOf } from '../../src/adapter/sql-dialect-of.ts';
import { prepared, sql } from '../../src/adapter/sql/statement.ts';
import { ConnectionTimeoutError } from '../../src/core/errors.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { ManualClock } from '../support/builders.ts';
import { createOrm, dropOrm, forEachDriver, mikroOrmMajor, type TestOrm } from '../support/orm.ts';

const pauseOf = (name: string) =>
  prepared(sql`insert into durable_job_queue (name, paused, updated_at) values (${name}, ${true}, ${5})`);
const pause = pauseOf('mails');

const calls: Array<[string, (session: Session) => Promise<unknown>]> = [
  ['a statement', ({ write }) => write(pause)],
  ['a transaction', ({ atomically }) => atomically(run => run(pause))],
];

forEachDriver(driver => {
  let orm: TestOrm;
  afterEach(() => dropOrm(orm));

  describe.each([true, false])('with prepared statements: %s', isPrepared => {
    test.each(calls)('%s has one limit for all that it waits for, and it ends with it', async (_, call) => {
      const { session, timers } = await aSession();

      await call(session);

      expect(timers).toEqual([{ ms: 400, isCancelled: true }]);
      expect(await queues()).toEqual(['mails']);
    });

    test.each(calls)(
      '%s that got no connection in time says so itself, and is not sent when there is one',
      async (_, call) => {
        const { session, ring } = await aSession();
        const em = orm.em.fork();
        await em.begin();

        const outcome = call(session).catch((error: unknown) => error);
        ring();

        expect(await outcome).toBeInstanceOf(ConnectionTimeoutError);
        await em.commit();
        for (let turn = 0; turn < 4; turn++) expect(await queues()).toEqual([]);
      },
    );

    test('a read has one limit too', async () => {
      const { session, timers } = await aSession();

      await session.read(prepared(sql`select name from durable_job_queue where name = ${'mails'}`));

      expect(timers).toEqual([{ ms: 400, isCancelled: true }]);
    });

    if (driver === 'postgresql' && isPrepared && mikroOrmMajor === 7) {
      test.each(calls)(
        '%s whose prepared statement was forgotten is sent as text, within a limit again',
        async (_, call) => {
          const { session, timers } = await aSession();
          await session.write(pauseOf('first'));
          await orm.em.fork().execute('deallocate all');

          await call(session);

          const limit = { ms: 400, isCancelled: true };
          expect(timers).toEqual([limit, limit, limit]);
          expect(await queues()).toEqual(['first', 'mails']);
        },
      );

      test('a read whose prepared statement was forgotten is sent as text', async () => {
        const { session } = await aSession();
        const find = () => session.read(prepared(sql`select name from durable_job_queue where name = ${'mails'}`));
        await session.write(pause);
        await find();
        await orm.em.fork().execute('deallocate all');

        expect(await find()).toEqual([{ name: 'mails' }]);
      });
    }

    async function aSession() {
      orm = await createOrm(driver, jobEntities, { pool: { min: 0, max: 1 } });
      const em = orm.em as never;
      const dialect = sqlDialectOf(em);
      const prepare = isPrepared ? preparedStatementsOf(em, dialect, new ManualClock()) : null;
      const timers: { ms: number; isCancelled: boolean }[] = [];
      let ring = () => {};
      const session = new OwnSession(em, dialect, Math.random, prepare).within({
        ms: 400,
        operation: 'pause()',
        ringAfter: (ms, whenOver) => {
          const timer = { ms, isCancelled: false };
          timers.push(timer);
          ring = whenOver;
          return () => void (timer.isCancelled = true);
        },
      });

      return { session, timers, ring: () => ring() };
    }
  });

  async function queues(): Promise<string[]> {
    const rows: { name: string }[] = await orm.em.fork().execute('select name from durable_job_queue order by name');
    return rows.map(({ name }) => name);
  }
});
