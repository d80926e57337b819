import type { MikroORM, Options } from '@mikro-orm/postgresql';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';

export type Driver = 'sqlite' | 'postgresql';

/** The PostgreSQL flavour on every driver: tests use what both have (`em.execute`, `schema`, …). */
export type TestOrm = MikroORM;

export type OrmOptions = Omit<Options, 'entities' | 'driver' | 'clientUrl' | 'dbName'>;

export interface CreateOptions extends OrmOptions {
  /** SQLite only: a temporary WAL file instead of `:memory:`, so that `openOrm` and child processes can share it. */
  readonly file?: boolean;
  /** `false` leaves the database empty, for tests of migrations. @default true */
  readonly createSchema?: boolean;
}

export interface OpenOptions extends OrmOptions {
  readonly dbName: string;
}

export const drivers = (process.env.DRIVERS ?? 'sqlite,postgresql').split(',') as Driver[];

/** The major under test: 6 when started by `npm run test:v6`. */
export const mikroOrmMajor = process.env.MIKRO_ORM_MAJOR === '6' ? 6 : 7;

export function forEachDriver(define: (driver: Driver) => void): void {
  describe.each(drivers)('on %s', define);
}

/** An ORM on a fresh database with the schema of `entities`. Give it to `dropOrm` at the end. */
export async function createOrm(
  driver: Driver,
  entities: Options['entities'],
  { file = false, createSchema = true, ...options }: CreateOptions = {},
): Promise<TestOrm> {
  const orm = await openOrm(driver, entities, { ...options, dbName: await createDatabase(driver, file) });
  if (createSchema) await createTables(orm);

  return orm;
}

/** One more ORM, with its own connections, on a database that exists: `dbNameOf(orm)`. */
export async function openOrm(
  driver: Driver,
  entities: Options['entities'],
  { dbName, ...options }: OpenOptions,
): Promise<TestOrm> {
  const server = driver === 'postgresql' ? { clientUrl: postgresUrl() } : {};
  const orm = await initialise(driver, { entities, dbName, ...server, ...options });
  if (driver === 'sqlite' && dbName !== ':memory:') await orm.em.execute('pragma journal_mode = wal');

  opened.add(orm);
  return orm;
}

export function dbNameOf(orm: TestOrm): string {
  return orm.config.get('dbName')!;
}

/** Closes the ORM and every other one on its database, then drops the database. */
export async function dropOrm(orm: TestOrm): Promise<void> {
  const dbName = dbNameOf(orm);
  const onSameDatabase = dbName === ':memory:' ? [orm] : [...opened].filter(other => dbNameOf(other) === dbName);

  for (const each of onSameDatabase) await closeOrm(each);
  await dropDatabase(dbName);
}

export async function closeOrm(orm: TestOrm): Promise<void> {
  opened.delete(orm);
  await orm.close(true);
}

const opened = new Set<TestOrm>();
const sqlitePrefix = path.join(os.tmpdir(), 'mikro-orm-jobs-sqlite-');

async function initialise(driver: Driver, options: object): Promise<TestOrm> {
  const module: unknown =
    driver === 'sqlite' ? await import('@mikro-orm/sqlite') : await import('@mikro-orm/postgresql');

  return (module as { MikroORM: { init(options: object): Promise<TestOrm> } }).MikroORM.init(options);
}

async function createTables(orm: TestOrm): Promise<void> {
  const schema = orm.schema as unknown as { create?(): Promise<void>; createSchema?(): Promise<void> };

  await (schema.create ? schema.create() : schema.createSchema!());
}

async function createDatabase(driver: Driver, file: boolean): Promise<string> {
  if (driver === 'sqlite') return file ? path.join(fs.mkdtempSync(sqlitePrefix), 'test.db') : ':memory:';

  const name = `t_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  await onServer(`create database ${name}`);

  return name;
}

async function dropDatabase(name: string): Promise<void> {
  if (name.startsWith('t_')) await onServer(`drop database if exists ${name} with (force)`);
  if (name.startsWith(sqlitePrefix)) fs.rmSync(path.dirname(name), { recursive: true, force: true });
}

async function onServer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl() });
  await client.connect();

  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

export function postgresUrl(): string {
  const url = process.env.TEST_PG_URL;
  if (!url) throw new Error('TEST_PG_URL is not set: the global set-up starts PostgreSQL and sets it.');

  return url;
}
