import type { MikroORM } from '@mikro-orm/core';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openPostgres, openSqlite } from '../../examples/outbox-handler/database.ts';
import { jobEntities } from '../../src/index.ts';
import { createOrm, dbNameOf, dropOrm, postgresUrl, type Driver } from '../support/orm.ts';

/** An empty database, and a folder, for runs of the example. */
export interface Place {
  readonly folder: string;
  /** The program's arguments that lead it here. */
  readonly args: readonly string[];
  /** Looks at the database from here. Not while the program runs: SQLite would be recovered by whoever comes second. */
  look<T>(look: (orm: MikroORM) => Promise<T>): Promise<T>;
  drop(): Promise<void>;
}

export async function createPlace(driver: Driver): Promise<Place> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-example-'));
  const { args, open, drop } = driver === 'sqlite' ? inFolder(folder) : await onServer();

  return {
    folder,
    args,
    look: async look => {
      const orm = await open();
      try {
        return await look(orm);
      } finally {
        await orm.close();
      }
    },
    drop: async () => {
      await drop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

function inFolder(folder: string) {
  return { args: ['--data', folder], open: () => openSqlite(folder), drop: async () => {} };
}

async function onServer() {
  const orm = await createOrm('postgresql', jobEntities, { createSchema: false });
  const url = new URL(postgresUrl());
  url.pathname = dbNameOf(orm);

  return { args: ['--postgres', url.href], open: () => openPostgres(url.href), drop: () => dropOrm(orm) };
}
