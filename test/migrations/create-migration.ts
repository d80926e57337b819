import { mikroOrmMajor, type TestOrm } from '../support/orm.ts';

interface Created {
  fileName: string;
  code: string;
  diff: { up: string[] };
}

/** `migration:create`. Without a difference the name of the file is empty. */
export async function createMigration(orm: TestOrm): Promise<Created> {
  const migrator = orm.migrator as unknown as Record<'create' | 'createMigration', () => Promise<Created>>;

  return mikroOrmMajor === 6 ? migrator.createMigration() : migrator.create();
}

export async function run(orm: TestOrm, statements: readonly string[]): Promise<void> {
  for (const sql of statements.filter(line => line !== '')) await orm.em.execute(sql);
}
