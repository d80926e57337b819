import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { EntityManager } from '@mikro-orm/core';
import type { Options } from '@mikro-orm/postgresql';
import { jobEntities } from '../../../src/entities/index.ts';
import { Jobs } from '../../../src/jobs.ts';
import type { JobsOptions } from '../../../src/jobs-options.ts';
import { ManualClock } from '../../support/builders.ts';
import {
  createOrm,
  dbNameOf,
  dropOrm,
  openOrm,
  type CreateOptions,
  type Driver,
  type TestOrm,
} from '../../support/orm.ts';
import { orderSchema } from './order.ts';

/** A host application: business rows, jobs, and what its ORM has sent to the database. */
export interface Host {
  readonly driver: Driver;
  readonly orm: TestOrm;
  readonly jobs: Jobs;
  readonly clock: ManualClock;
  /** Every statement so far, begin and commit included. */
  readonly statements: readonly string[];
}

export interface HostOptions extends CreateOptions {
  readonly entities?: Options['entities'];
  readonly jobsOptions?: Partial<JobsOptions<EntityManager>>;
}

/** On a fresh database. Give its `orm` to `dropOrm` at the end. */
export async function createHost(driver: Driver, options: HostOptions = {}): Promise<Host> {
  const { entities = [orderSchema, ...jobEntities], jobsOptions, ...ormOptions } = options;
  const statements: string[] = [];

  return hostOn(driver, await createOrm(driver, entities, logged(statements, ormOptions)), statements, jobsOptions);
}

/** One more process, so to say: connections of its own to the database of `first`. */
export async function openHost(first: Host, options: Omit<HostOptions, 'file' | 'createSchema'> = {}): Promise<Host> {
  const { entities = [orderSchema, ...jobEntities], jobsOptions, ...ormOptions } = options;
  const statements: string[] = [];
  const orm = await openOrm(first.driver, entities, {
    ...logged(statements, ormOptions),
    dbName: dbNameOf(first.orm),
  });

  return hostOn(first.driver, orm, statements, jobsOptions);
}

/** A host whose database the tests of a block share; each test finds it empty. */
export function useHost(driver: Driver, options: HostOptions = {}): Host {
  let current: Host;
  beforeAll(async () => void (current = await createHost(driver, options)));
  beforeEach(() => empty(current));
  afterAll(() => dropOrm(current.orm));

  return {
    driver,
    get orm() {
      return current.orm;
    },
    get jobs() {
      return current.jobs;
    },
    get clock() {
      return current.clock;
    },
    get statements() {
      return current.statements;
    },
  };
}

/** What the ORM sent while `work` ran. */
export async function sentDuring(host: Host, work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = host.statements.length;
  await work();

  return host.statements.slice(before);
}

export async function jobIds({ orm }: Pick<Host, 'orm'>): Promise<string[]> {
  return idsIn(orm, 'durable_job');
}

export async function orderIds({ orm }: Pick<Host, 'orm'>): Promise<string[]> {
  return idsIn(orm, 'order_');
}

export async function idsIn(orm: TestOrm, table: string): Promise<string[]> {
  const rows: { id: string }[] = await orm.em
    .fork({ disableContextResolution: true })
    .execute(`select id from ${table} order by id`);

  return rows.map(({ id }) => id);
}

/** Resolves when so many sessions of this database wait for a lock. PostgreSQL only. */
export async function untilBlocked({ orm }: Pick<Host, 'orm'>, sessions = 1): Promise<void> {
  const em = orm.em.fork({ disableContextResolution: true });

  for (;;) {
    const blocked: unknown[] = await em.execute(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (blocked.length >= sessions) return;
  }
}

async function empty({ orm }: Host): Promise<void> {
  for (const table of ['durable_job', 'order_']) {
    await orm.em.fork({ disableContextResolution: true }).execute(`delete from ${table}`);
  }
}

function logged<T extends CreateOptions>(statements: string[], options: T): T {
  const logger = (message: string) => {
    // The notification of an earlier commit follows that by itself.
    if (!message.includes('select pg_notify(')) statements.push(message);
  };

  return { ...options, debug: ['query'], colors: false, logger };
}

function hostOn(
  driver: Driver,
  orm: TestOrm,
  statements: readonly string[],
  jobsOptions?: Partial<JobsOptions<EntityManager>>,
): Host {
  const clock = new ManualClock();

  return { driver, orm, clock, statements, jobs: new Jobs({ orm, clock, ...jobsOptions }) };
}
