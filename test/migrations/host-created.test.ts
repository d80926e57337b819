import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { schemaDiff } from '../entities/schema-diff.ts';
import { drivers, dropOrm, forEachDriver, mikroOrmMajor, type TestOrm } from '../support/orm.ts';
import { hostWithFolder, removeFolder, temporaryFolder } from './host.ts';

interface Created {
  fileName: string;
  code: string;
  diff: { up: string[] };
}

let orm: TestOrm;
let folder: string;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(async () => {
  await dropOrm(orm);
  removeFolder(folder);
});

forEachDriver(driver => {
  test('the host’s `migration:create` writes the tables, and is done with that', async () => {
    orm = await hostWithFolder(driver, folder);

    const { code, diff } = await createMigration(orm);
    await run(orm, diff.up);

    for (const table of ['job', 'job_attempt', 'executor', 'inbox_message', 'outbox_message']) {
      expect(code).toMatch(new RegExp(`create table [\`"\\\\]+durable_${table}[\`"\\\\]`));
    }
    expect(await schemaDiff(orm)).toBe('');
    expect((await createMigration(orm)).fileName).toBe('');
  });

  test('without a snapshot as well', async () => {
    orm = await hostWithFolder(driver, folder, { migrations: { path: folder, snapshot: false, silent: true } });

    const { diff } = await createMigration(orm);
    await run(orm, diff.up);

    expect((await createMigration(orm)).fileName).toBe('');
  });
});

if (drivers.includes('postgresql')) {
  test('on postgresql with the host’s `schema` option as well', async () => {
    orm = await hostWithFolder('postgresql', folder, { schema: 'jobs' });

    const { diff } = await createMigration(orm);
    await run(orm, diff.up);

    expect(await schemaDiff(orm)).toBe('');
    expect((await createMigration(orm)).fileName).toBe('');
  });
}

async function createMigration(orm: TestOrm): Promise<Created> {
  const migrator = orm.migrator as unknown as Record<'create' | 'createMigration', () => Promise<Created>>;

  return mikroOrmMajor === 6 ? migrator.createMigration() : migrator.create();
}

async function run(orm: TestOrm, statements: readonly string[]): Promise<void> {
  for (const sql of statements.filter(line => line !== '')) await orm.em.execute(sql);
}
