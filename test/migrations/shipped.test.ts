import { afterEach, expect, test } from '@jest/globals';
import { EntityCaseNamingStrategy, MongoNamingStrategy } from '@mikro-orm/core';
import * as shipped from '../../migrations/index.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { needsMigration, schemaDiff } from '../entities/schema-diff.ts';
import { ShoutingNamingStrategy } from '../entities/shouting-naming-strategy.ts';
import {
  createOrm,
  drivers,
  dropOrm,
  forEachDriver,
  mikroOrmMajor,
  type Driver,
  type TestOrm,
} from '../support/orm.ts';
import { catalogOf } from './catalog.ts';
import { hostWithList } from './host.ts';

let orm: TestOrm;
afterEach(() => dropOrm(orm));

forEachDriver(driver => {
  test('the shipped migrations make what the entities describe, to the letter', async () => {
    orm = await hostWithList(driver);
    const generated = await createOrm(driver, jobEntities);

    await orm.migrator.up();

    expect(await catalogOf(orm, driver)).toEqual(await catalogOf(generated, driver));
    await dropOrm(generated);
  });

  test('after them neither `schema:update` nor `migration:create` finds anything to do', async () => {
    orm = await hostWithList(driver);
    expect(await needsMigration(orm)).toBe(true);

    await orm.migrator.up();

    expect(await schemaDiff(orm)).toBe('');
    expect(await needsMigration(orm)).toBe(false);
  });

  test.each([
    { name: 'EntityCaseNamingStrategy', namingStrategy: EntityCaseNamingStrategy },
    { name: 'MongoNamingStrategy', namingStrategy: MongoNamingStrategy },
    { name: 'a strategy that names everything', namingStrategy: ShoutingNamingStrategy },
  ])('nor with $name', async ({ namingStrategy }) => {
    orm = await hostWithList(driver, { namingStrategy });

    await orm.migrator.up();

    expect(await schemaDiff(orm)).toBe('');
    expect(await needsMigration(orm)).toBe(false);
  });

  test('they run once', async () => {
    orm = await hostWithList(driver);
    const first = await orm.migrator.up();

    expect(first.map(({ name }) => name)).toEqual(shipped.jobMigrations.map(({ name }) => name));
    expect(await orm.migrator.up()).toEqual([]);
  });

  test('reverted, they leave nothing behind and can run again', async () => {
    orm = await hostWithList(driver);
    await orm.migrator.up();

    await orm.migrator.down({ to: 0 });

    expect(await tables(orm, driver)).toEqual([]);
    await orm.migrator.up();
    expect(await schemaDiff(orm)).toBe('');
  });

  test('where the tables are there already, they fail with the database’s error and change nothing', async () => {
    orm = await hostWithList(driver);
    await orm.schema.execute(await orm.schema.getCreateSchemaSQL({ wrap: false }));
    const before = await catalogOf(orm, driver);

    await expect(orm.migrator.up()).rejects.toThrow(/durable_job.* already exists/);

    expect(await catalogOf(orm, driver)).toEqual(before);
    expect(await orm.em.execute('select name from mikro_orm_migrations')).toEqual([]);
  });
});

test('a migration’s name is its class’s, and in the order of the list', async () => {
  orm = await hostWithList(drivers[0]!);
  const names = shipped.jobMigrations.map(({ name }) => name);

  expect(names).toEqual(shipped.jobMigrations.map(migration => migration.class.name));
  expect(names).toEqual([...names].sort());
  expect(Object.keys(shipped)).toEqual(expect.arrayContaining(names));
});

if (drivers.includes('postgresql')) {
  test.each(['jobs', 'Mixed Case'])('the tables go to the host’s schema %p and come back from there', async schema => {
    orm = await hostWithList('postgresql', { schema });

    await orm.migrator.up();

    expect(await tables(orm, 'postgresql')).toEqual(Array(jobEntities.length).fill(schema));
    expect(await schemaDiff(orm)).toBe('');
    expect(await needsMigration(orm)).toBe(false);
    await orm.migrator.down({ to: 0 });
    expect(await tables(orm, 'postgresql')).toEqual([]);
  });
}

if (drivers.includes('postgresql') && mikroOrmMajor === 7) {
  test('the tables follow the schema that the migrator is run in', async () => {
    orm = await hostWithList('postgresql');
    await orm.em.execute('create schema tenant');

    await orm.migrator.up({ schema: 'tenant' } as object);

    expect(await tables(orm, 'postgresql')).toEqual(Array(jobEntities.length).fill('tenant'));
  });
}

/** The schema of each table; on SQLite, which has none, the table itself. */
async function tables(orm: TestOrm, driver: Driver): Promise<unknown[]> {
  const rows: { place: string }[] = await orm.em.execute(
    driver === 'sqlite'
      ? `select name as place from sqlite_master where type = 'table' and name like 'durable%'`
      : `select table_schema as place from information_schema.tables where table_name like 'durable%'`,
  );

  return rows.map(({ place }) => place);
}
