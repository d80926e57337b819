import { Migrator } from '@mikro-orm/migrations';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { jobMigrations } from '../../migrations/index.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { createOrm, openOrm, type CreateOptions, type Driver, type OrmOptions, type TestOrm } from '../support/orm.ts';

/** A host on an empty database that runs the shipped migrations. */
export function hostWithList(driver: Driver, options: CreateOptions = {}): Promise<TestOrm> {
  return createOrm(driver, jobEntities, {
    createSchema: false,
    extensions: [Migrator],
    migrations: { migrationsList: jobMigrations, snapshot: false, silent: true },
    ...options,
  });
}

/** A host on a database that exists, with these migrations. */
export function hostOn(driver: Driver, dbName: string, migrations: OrmOptions['migrations']): Promise<TestOrm> {
  return openOrm(driver, jobEntities, {
    dbName,
    extensions: [Migrator],
    migrations: { snapshot: false, silent: true, ...migrations },
  });
}

/** A host on an empty database that keeps its migrations in a folder. */
export function hostWithFolder(driver: Driver, folder: string, options: OrmOptions = {}): Promise<TestOrm> {
  return createOrm(driver, jobEntities, {
    createSchema: false,
    extensions: [Migrator],
    migrations: { path: folder, silent: true },
    ...options,
  });
}

export function temporaryFolder(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-migrations-'));
}

export function removeFolder(folder: string): void {
  fs.rmSync(folder, { recursive: true, force: true });
}
