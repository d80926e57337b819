import type { EntityManager } from '@mikro-orm/postgresql';
import { MikroOrmHandlerEnvironment } from '../../../src/adapter/handler-environment.ts';
import { preparedStatementsOf } from '../../../src/adapter/prepared-statements-of.ts';
import { HintChannel } from '../../../src/adapter/hint-channel.ts';
import { MikroOrmIdempotencyStore } from '../../../src/adapter/mikro-orm-idempotency-store.ts';
import { MikroOrmJobStore } from '../../../src/adapter/mikro-orm-job-store.ts';
import { MikroOrmRecurringStore } from '../../../src/adapter/mikro-orm-recurring-store.ts';
import { OwnSession } from '../../../src/adapter/own-session.ts';
import { sqlDialectOf } from '../../../src/adapter/sql-dialect-of.ts';
import { TransactionSession } from '../../../src/adapter/transaction-session.ts';
import { CreationClock, systemClock, type Clock } from '../../../src/core/clock.ts';
import { EventStream } from '../../../src/core/event-stream.ts';
import type { ExecutorEnvironment } from '../../../src/core/executor-environment.ts';
import type { ExecutorOptions } from '../../../src/core/executor-options.ts';
import type { RegisteredHandler } from '../../../src/core/handler.ts';
import type { IdempotencyStore } from '../../../src/core/idempotency.ts';
import type { JobSnapshot } from '../../../src/core/snapshot.ts';
import { jobEntities } from '../../../src/entities/index.ts';
import { Executor } from '../../../src/executor/executor.ts';
import { Jobs } from '../../../src/jobs.ts';
import {
  createOrm,
  dbNameOf,
  dropOrm,
  openOrm,
  type CreateOptions,
  type Driver,
  type TestOrm,
} from '../../support/orm.ts';
import { Log } from './log.ts';
import { Note, noteSchema } from './note.entity.ts';
import { tapped, type Taps } from './tap.ts';

export const entities = [...jobEntities, noteSchema];

export interface WorldOptions extends CreateOptions {
  readonly clock?: Clock;
}

/** A host application on a database of its own: an ORM, its Jobs, and executors that end with the test. */
export class World {
  readonly driver: Driver;
  readonly orm: TestOrm;
  readonly clock: Clock;
  readonly log = new Log();
  /** What its executors tell; what `jobs` tells is in `jobs.events`. */
  readonly events = new EventStream(this.log);
  readonly jobs: Jobs<EntityManager>;
  readonly idempotency: IdempotencyStore;
  readonly #executors: Array<Executor<EntityManager>> = [];

  constructor(driver: Driver, orm: TestOrm, clock: Clock) {
    this.driver = driver;
    this.orm = orm;
    this.clock = clock;
    // One process, whose executors are told at once; a connection that begins to listen would have them look once more.
    this.jobs = new Jobs({ orm, clock, logger: this.log, notifications: false });
    const dialect = sqlDialectOf(orm.em);
    const session = new OwnSession(orm.em as never, dialect, Math.random, preparedStatementsOf(orm.em, dialect, clock));
    this.idempotency = new MikroOrmIdempotencyStore({ session, clock });
  }

  static async open(driver: Driver, { clock = systemClock, ...options }: WorldOptions = {}): Promise<World> {
    // Enough for every executor here, so that none warns. A memory database of SQLite has one connection.
    const pool = driver === 'postgresql' ? { pool: { min: 0, max: 20 } } : {};
    return new World(driver, await createOrm(driver, entities, { ...pool, ...options }), clock);
  }

  /** The same database seen by another process: an ORM and a store of its own. SQLite: only with `file: true`. */
  async another(): Promise<World> {
    return new World(this.driver, await openOrm(this.driver, entities, { dbName: dbNameOf(this.orm) }), this.clock);
  }

  /** Without a lease, unless the options give one: what is left running is recovered at the next start. */
  executor(
    handlers: ReadonlyArray<RegisteredHandler<EntityManager>>,
    options: ExecutorOptions = {},
    taps: Taps = {},
    events = this.events,
  ): Executor<EntityManager> {
    const { em } = this.orm;
    const dialect = sqlDialectOf(em);
    const parts = {
      dialect,
      clock: this.clock,
      creationClock: new CreationClock(this.clock),
      hints: new HintChannel(),
      belowCaps: new Set<string>(),
    };
    const prepared = preparedStatementsOf(em as never, dialect, this.clock);
    const session = new OwnSession(em as never, dialect, Math.random, prepared);
    const real = new MikroOrmHandlerEnvironment<EntityManager>(em as never, session, dialect, transaction =>
      tapped(new MikroOrmJobStore({ ...parts, session: new TransactionSession(transaction, prepared) }), {
        ...(taps.settleInTransaction && { settle: taps.settleInTransaction }),
      }),
    );
    const environment: ExecutorEnvironment<EntityManager> = {
      check: () => real.check(),
      hasUnflushed: em => real.hasUnflushed(em),
      refuseTransaction: (em, operation, advice) => real.refuseTransaction(em, operation, advice),
      run: async run => {
        const result = await real.run(run);
        await taps.afterHandler?.();

        return result;
      },
      transactional: (em, work, settle, cut) => {
        const call = () => real.transactional(em, work, settle, cut);
        return taps.transactional === undefined ? call() : taps.transactional(call);
      },
    };
    const store = tapped(this.jobs.store, taps);
    const recurring = new MikroOrmRecurringStore({ ...parts, session });
    const idempotency = tapped(this.idempotency, taps);
    const executor = new Executor<EntityManager>(
      { store, recurring, idempotency, environment, clock: this.clock, logger: this.log, events, random: () => 0.5 },
      handlers,
      { lease: false, ...options },
    );

    this.#executors.push(executor);
    return executor;
  }

  async job(id: string): Promise<JobSnapshot> {
    const job = await this.jobs.scope('').get(id);
    if (job === null) {
      throw new Error(`There is no job ${id}.`);
    }

    return job;
  }

  async notes(): Promise<string[]> {
    const notes = await this.orm.em.fork().find(Note, {}, { orderBy: { id: 'asc' } });
    return notes.map(({ id }) => id);
  }

  async close(): Promise<void> {
    await Promise.all(this.#executors.map(executor => executor.stop()));
    await dropOrm(this.orm);
  }
}
