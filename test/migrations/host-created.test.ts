import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { jobEntities } from '../../src/entities/index.ts';
import { schemaDiff } from '../entities/schema-diff.ts';
import { drivers, dropOrm, forEachDriver, type TestOrm } from '../support/orm.ts';
import { createMigration, run } from './create-migration.ts';
import { hostWithFolder, removeFolder, temporaryFolder } from './host.ts';

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

    for (const schema of jobEntities) {
      expect(code).toMatch(new RegExp(`create table [\`"\\\\]+${schema.meta.tableName}[\`"\\\\]`));
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
