import { mikroOrmMajor, type TestOrm } from '../support/orm.ts';

/** What `schema:update` would run. */
export async function schemaDiff(orm: TestOrm): Promise<string> {
  return (await orm.schema.getUpdateSchemaSQL({ wrap: false })).trim();
}

/** Whether `migration:create` would write a migration. */
export async function needsMigration(orm: TestOrm): Promise<boolean> {
  const migrator = orm.migrator as unknown as Record<'checkSchema' | 'checkMigrationNeeded', () => Promise<boolean>>;

  return mikroOrmMajor === 6 ? migrator.checkMigrationNeeded() : migrator.checkSchema();
}
