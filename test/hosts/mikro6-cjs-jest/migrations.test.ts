import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/sqlite';
import { jobEntities } from 'mikro-orm-jobs';
import { jobMigrations } from 'mikro-orm-jobs/migrations';

test('the shipped migrations leave nothing for a schema diff to find', async () => {
  const orm = await MikroORM.init({
    dbName: ':memory:',
    entities: [...jobEntities],
    extensions: [Migrator],
    migrations: { migrationsList: jobMigrations, snapshot: false },
  });

  await orm.getMigrator().up();
  const difference = await orm.schema.getUpdateSchemaSQL({ safe: true });
  await orm.close(true);

  expect(difference.trim()).toBe('');
});
