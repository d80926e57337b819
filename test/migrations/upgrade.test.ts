import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { jobMigrations } from '../../migrations/index.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { aJob, anAttempt, anExecutor, anInboxMessage, anOutboxMessage, insert, type Row } from '../entities/rows.ts';
import { needsMigration, schemaDiff } from '../entities/schema-diff.ts';
import { createOrm, dbNameOf, dropOrm, forEachDriver, type Driver, type TestOrm } from '../support/orm.ts';
import { catalogOf } from './catalog.ts';
import { createMigration, run } from './create-migration.ts';
import { hostOn, hostWithList, removeFolder, temporaryFolder } from './host.ts';

const rows: [table: string, row: Row][] = [
  ['durable_job', aJob({ state: 'awaiting' })],
  ['durable_job', aJob({ id: 'job-2' })],
  ['durable_job_attempt', anAttempt()],
  ['durable_executor', anExecutor()],
  ['durable_inbox_message', anInboxMessage()],
  ['durable_outbox_message', anOutboxMessage()],
];

let old: TestOrm;
let folder: string;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(async () => {
  await dropOrm(old);
  removeFolder(folder);
});

forEachDriver(driver => {
  test.each(releases())('a database that %s made keeps its rows and gets the rest', async (_, release) => {
    const before = await inUse(driver, release);
    const orm = await hostOn(driver, dbNameOf(old), { migrationsList: jobMigrations });

    const ran = await orm.migrator.up();

    expect(ran.map(({ name }) => name)).toEqual(jobMigrations.slice(release.length).map(({ name }) => name));
    expect(await content(orm)).toEqual(before);
    expect(await schemaDiff(orm)).toBe('');
    expect(await needsMigration(orm)).toBe(false);
    const generated = await createOrm(driver, jobEntities);
    expect(await catalogOf(orm, driver)).toEqual(await catalogOf(generated, driver));
    await dropOrm(generated);
  });

  test.each(releases())('the host’s own migration upgrades what %s made', async (_, release) => {
    const before = await inUse(driver, release);
    const orm = await hostOn(driver, dbNameOf(old), { path: folder });

    const { diff } = await createMigration(orm);
    await run(orm, diff.up);

    expect(diff.up.join('\n')).not.toMatch(/\b(drop|insert|rename|alter column)\b/i);
    expect(await content(orm)).toEqual(before);
    expect(await schemaDiff(orm)).toBe('');
    expect((await createMigration(orm)).fileName).toBe('');
  });

  test.each(releases())('the later migrations are reverted to what %s made', async (_, release) => {
    const before = await inUse(driver, release);
    const catalog = await catalogOf(old, driver);
    const orm = await hostOn(driver, dbNameOf(old), { migrationsList: jobMigrations });
    const later = await orm.migrator.up();

    await orm.migrator.down({ migrations: later.map(({ name }) => name).reverse() });

    expect(await catalogOf(orm, driver)).toEqual(catalog);
    expect(await content(orm)).toEqual(before);
  });
});

/** Each state of the tables that a database may be in: the migrations up to, and without, the last one. */
function releases(): [title: string, release: typeof jobMigrations][] {
  return jobMigrations
    .slice(0, -1)
    .map(({ name }, index) => [name, jobMigrations.slice(0, index + 1)] as [string, typeof jobMigrations]);
}

/** Its content, after some use. */
async function inUse(driver: Driver, release: typeof jobMigrations): Promise<unknown> {
  old = await hostWithList(driver, {
    file: true,
    migrations: { migrationsList: release, snapshot: false, silent: true },
  });
  await old.migrator.up();
  for (const [table, row] of rows) await insert(old, table, row);

  return content(old);
}

/** Without what is null, as the columns that a later migration adds to a row are. */
async function content(orm: TestOrm): Promise<unknown> {
  const tables = [...new Set(rows.map(([table]) => table))];
  const stored = await Promise.all(tables.map(table => orm.em.fork().execute(`select * from ${table} order by 1, 2`)));

  return stored.map(rows =>
    rows.map(row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))),
  );
}
