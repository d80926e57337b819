import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { HintChannel } from '../../../src/adapter/hint-channel.ts';
import { preparedStatementsOf } from '../../../src/adapter/prepared-statements-of.ts';
import { MikroOrmRecurringStore } from '../../../src/adapter/mikro-orm-recurring-store.ts';
import { OwnSession } from '../../../src/adapter/own-session.ts';
import { sqlDialectOf } from '../../../src/adapter/sql-dialect-of.ts';
import { CreationClock, type Clock } from '../../../src/core/clock.ts';
import { jobEntities } from '../../../src/entities/index.ts';
import { Jobs } from '../../../src/jobs.ts';
import { Log } from '../../executor/support/log.ts';
import { ManualClock } from '../../support/builders.ts';
import { createOrm, dbNameOf, dropOrm, openOrm, type Driver, type TestOrm } from '../../support/orm.ts';

/** A host application as one process has it: an ORM with connections of its own, and everything on it. */
export interface Host {
  readonly driver: Driver;
  readonly orm: TestOrm;
  readonly jobs: Jobs;
  readonly recurring: MikroOrmRecurringStore;
  readonly log: Log;
}

export interface Several {
  readonly hosts: readonly Host[];
  readonly clock: ManualClock;
}

const tables = ['durable_job_dependency', 'durable_job_attempt', 'durable_job', 'durable_executor', 'durable_job_queue', 'durable_recurring_job', 'durable_idempotency_claim']; // prettier-ignore

/** So many of them on one database that the tests of a block share; each test finds it empty. SQLite: one file. */
export function useSeveral(driver: Driver, count: number, given: { readonly clock?: Clock } = {}): Several {
  const hosts: Host[] = [];
  const clock = new ManualClock();

  beforeAll(async () => {
    const first = await createOrm(driver, jobEntities, { file: true });
    hosts.push(hostOn(driver, first, given.clock ?? clock));
    while (hosts.length < count) {
      hosts.push(hostOn(driver, await openOrm(driver, jobEntities, { dbName: dbNameOf(first) }), given.clock ?? clock));
    }
  });
  beforeEach(async () => {
    clock.reset();
    for (const { log } of hosts) log.entries.length = 0;
    for (const table of tables) await hosts[0]!.orm.em.fork().execute(`delete from ${table}`);
  });
  afterAll(() => dropOrm(hosts[0]!.orm));

  return { hosts, clock };
}

export function hostOn(driver: Driver, orm: TestOrm, clock: Clock): Host {
  const log = new Log();
  const em = orm.em as never;
  const dialect = sqlDialectOf(em);
  const session = new OwnSession(em, dialect, Math.random, preparedStatementsOf(em, dialect, clock));

  return {
    driver,
    orm,
    log,
    jobs: new Jobs({ orm, clock, logger: log }),
    recurring: new MikroOrmRecurringStore({
      session,
      dialect,
      clock,
      creationClock: new CreationClock(clock),
      hints: new HintChannel(log),
      belowCaps: new Set<string>(),
    }),
  };
}
