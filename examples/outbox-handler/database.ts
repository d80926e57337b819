import type { MikroORM } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM as PostgresORM } from '@mikro-orm/postgresql';
import { MikroORM as SqliteORM } from '@mikro-orm/sqlite';
import fs from 'node:fs';
import path from 'node:path';
import { jobMigrations } from '../../migrations/index.ts';
import { jobEntities } from '../../src/index.ts';
import { shopEntities } from './entities.ts';
import { CreateShop } from './migration.ts';

const options = {
  entities: [...shopEntities, ...jobEntities],
  extensions: [Migrator],
  migrations: {
    migrationsList: [...jobMigrations, { name: 'CreateShop', class: CreateShop }],
    snapshot: false,
    silent: true,
  },
};

/** A file in the folder, which is made if need be. */
export async function openSqlite(folder: string): Promise<MikroORM> {
  fs.mkdirSync(folder, { recursive: true });
  const orm = await SqliteORM.init({ ...options, dbName: path.join(folder, 'shop.db') });
  await orm.em.execute('pragma journal_mode = wal');

  return orm;
}

/** In memory, for tests. */
export async function openMemory(): Promise<MikroORM> {
  return SqliteORM.init({ ...options, dbName: ':memory:' });
}

/** The database that the address names. */
export async function openPostgres(clientUrl: string): Promise<MikroORM> {
  return PostgresORM.init({ ...options, clientUrl });
}

/** Makes the tables that are missing. `fresh`: drops them before. */
export async function prepare(orm: MikroORM, { fresh }: { readonly fresh: boolean }): Promise<void> {
  if (fresh) await orm.migrator.down({ to: 0 });
  await orm.migrator.up();
}
