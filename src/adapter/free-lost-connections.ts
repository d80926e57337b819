import type { EntityManager } from '@mikro-orm/core';
import { noteDatabase } from '../entities/refuse-ended-transaction.ts';
import { nativeClientOf } from './native-client.ts';

interface Client {
  once(event: 'end', listener: () => void): void;
  release?: (this: void, destroy: boolean) => void;
}

interface Pool {
  on(event: 'acquire', listener: (client: Client) => void): void;
}

/** What we use of better-sqlite3. */
interface SqliteDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): unknown;
}

const watched = new WeakSet<object>();

/**
 * MikroORM 7 (seen with 7.2.1) keeps the connection of a transaction whose rollback fails, for ever: as many as the pool has, and every
 * query waits for ever. On PostgreSQL that is one that was cut, and is given back when it ends; on SQLite one whose transaction the
 * database has ended itself, as it may when the disk is full, and there is only that one. MikroORM 6 does it itself.
 */
export async function freeLostConnections(em: EntityManager): Promise<void> {
  const client = await nativeClientOf(em);

  if (client !== undefined && !watched.has(client)) {
    watched.add(client);
    if (isPool(client)) {
      client.on('acquire', giveBackAtEnd());
    } else if (isSqlite(client)) {
      letRollbacksSucceed(client);
      noteDatabase(em, client);
    }
  }
}

function giveBackAtEnd(): (client: Client) => void {
  const known = new WeakSet<Client>();

  return client => {
    if (!known.has(client)) {
      known.add(client);
      client.once('end', () => giveBack(client));
    }
  };
}

function giveBack(client: Client): void {
  const { release } = client;
  // Whoever still waits for an answer gives it back again, and should hear why its statement failed, not of that.
  client.release = () => {};

  try {
    release?.(true);
  } catch {
    // Given back already, by whoever noticed first.
  }
}

/** One that has nothing to roll back is an error in SQLite. */
function letRollbacksSucceed(database: SqliteDatabase): void {
  const prepare = database.prepare.bind(database);

  database.prepare = sql => {
    if (sql === 'rollback' && !database.inTransaction) {
      database.exec('begin');
    }
    return prepare(sql);
  };
}

function isPool(client: object): client is Pool {
  return typeof (client as Partial<Pool>).on === 'function';
}

function isSqlite(client: object): client is SqliteDatabase {
  const { inTransaction, exec, prepare } = client as Partial<SqliteDatabase>;
  return typeof inTransaction === 'boolean' && typeof exec === 'function' && typeof prepare === 'function';
}
