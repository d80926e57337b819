import type { EntityManager } from '@mikro-orm/core';
import type { Row } from '../entities/run-sql.ts';
import type { Statement } from './sql/statement.ts';
import type { Tables } from './tables.ts';

export type { Row };

/** Sends one statement. */
export type Run = (statement: Statement) => Promise<Row[]>;

/** Where the store's statements go: to connections of its own, or into one transaction that is open already. */
export interface Session {
  readonly tables: Tables;
  /** One statement that writes nothing. */
  readonly read: Run;
  /** One statement that is atomic by itself. */
  readonly write: Run;
  /** Several statements, all or nothing, as short as they are. */
  readonly atomically: <T>(work: (run: Run) => Promise<T>) => Promise<T>;
  /** The same, in the open transaction of this EntityManager. */
  inTransaction(em: EntityManager): Session;
}
