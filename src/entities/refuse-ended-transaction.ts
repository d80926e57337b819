import type { EntityManager } from '@mikro-orm/core';
import { TransactionEndedError } from '../core/errors.ts';

/** What better-sqlite3 tells of its one connection. */
interface SqliteDatabase {
  /** Not after `orm.close()`: an ORM that is opened again has another one. */
  readonly open: boolean;
  readonly inTransaction: boolean;
}

const databases = new WeakMap<object, SqliteDatabase>();

export function noteDatabase(em: EntityManager, database: SqliteDatabase): void {
  databases.set(em.getConnection('write'), database);
}

/**
 * SQLite may end a transaction by itself, as it does when the disk is full; what is sent then is committed by itself. It tells through
 * MikroORM 7.2 and later. PostgreSQL needn't, as it refuses everything after an error. Waits for nothing: between the look whether a
 * transaction is open and the statement nobody may end it.
 *
 * @throws TransactionEndedError
 */
export function refuseEndedTransaction(em: EntityManager): void {
  const database = databases.get(em.getConnection('write'));
  if (database?.open && !database.inTransaction) {
    throw new TransactionEndedError();
  }
}
