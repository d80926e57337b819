import { HintChannel } from '../../src/adapter/hint-channel.ts';
import { MikroOrmIdempotencyStore } from '../../src/adapter/mikro-orm-idempotency-store.ts';
import { preparedStatementsOf } from '../../src/adapter/prepared-statements-of.ts';
import { MikroOrmJobStore } from '../../src/adapter/mikro-orm-job-store.ts';
import { MikroOrmQueueStore } from '../../src/adapter/mikro-orm-queue-store.ts';
import { MikroOrmRecurringStore } from '../../src/adapter/mikro-orm-recurring-store.ts';
import { OwnSession } from '../../src/adapter/own-session.ts';
import { sqlDialectOf } from '../../src/adapter/sql-dialect-of.ts';
import { ManualClock, type Handle, type Harness } from '../../src/conformance/index.ts';
import { CreationClock, type Clock } from '../../src/core/clock.ts';
import { scopeHash } from '../../src/core/scope.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { createOrm, dbNameOf, dropOrm, openOrm, type Driver, type TestOrm } from '../support/orm.ts';

/** A harness on one database, which every fact finds empty, and what drops that database. */
export interface OpenHarness extends Harness {
  drop(): Promise<void>;
}

const tables = [
  'durable_job_attempt',
  'durable_job_dependency',
  'durable_job',
  'durable_executor',
  'durable_job_queue',
  'durable_recurring_job',
  'durable_idempotency_claim',
];

/** @param file SQLite only: a file in place of `:memory:`, so that each handle has a connection of its own */
export async function mikroOrmHarness(driver: Driver, { file = false } = {}): Promise<OpenHarness> {
  const orm = await createOrm(driver, jobEntities, { file });
  // In memory there is one connection, and the database is in it; other handles share it.
  const isShared = driver === 'sqlite' && !file;
  const others: TestOrm[] = [];

  const another = async (index: number) => {
    if (isShared) return orm;
    return (others[index] ??= await openOrm(driver, jobEntities, { dbName: dbNameOf(orm), pool: { min: 0, max: 2 } }));
  };

  return {
    name: `${driver}${file ? ' file' : ''}`,
    abilities: ['severalHandles', 'deleteAttempt', 'deleteJob', 'wakeUp'],
    create: async () => {
      const clock = new ManualClock();
      let opened = 0;
      for (const table of tables) await orm.em.fork().execute(`delete from ${table}`);

      return {
        ...handleOn(orm, clock),
        clock,
        open: async (other: Clock = clock) => handleOn(await another(opened++), other),
        faults: {
          deleteAttempt: async ({ scope, id, attempt }) => {
            const where = 'scope_hash = ? and job_id = ? and ordinal = ?';
            await orm.em
              .fork()
              .execute(`delete from durable_job_attempt where ${where}`, [scopeHash(scope), id, attempt]);
          },
          deleteJob: async ({ scope, id }) => {
            const key = [scopeHash(scope), id];
            await orm.em.fork().execute('delete from durable_job_attempt where scope_hash = ? and job_id = ?', key);
            await orm.em.fork().execute('delete from durable_job where scope_hash = ? and id = ?', key);
          },
        },
        close: async () => {},
      };
    },
    drop: () => dropOrm(orm),
  };
}

function handleOn(orm: TestOrm, clock: Clock): Handle {
  const dialect = sqlDialectOf(orm.em);
  const session = new OwnSession(orm.em, dialect, Math.random, preparedStatementsOf(orm.em, dialect, clock));
  const parts = {
    session,
    dialect,
    clock,
    creationClock: new CreationClock(clock),
    hints: new HintChannel(),
    belowCaps: new Set<string>(),
  };

  return {
    store: new MikroOrmJobStore(parts),
    queues: new MikroOrmQueueStore(parts),
    recurring: new MikroOrmRecurringStore(parts),
    idempotency: new MikroOrmIdempotencyStore(parts),
  };
}
