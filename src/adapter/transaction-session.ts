import type { EntityManager } from '@mikro-orm/core';
import { refuseEndedTransaction } from '../entities/refuse-ended-transaction.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import { runOn } from './run.ts';
import type { Run, Session } from './session.ts';
import { tablesOf, type Tables } from './tables.ts';

/** Writes in the open transaction of an EntityManager, and nowhere else. Nothing is repeated: the transaction is its owner's. */
export class TransactionSession implements Session {
  readonly tables: Tables;
  readonly read: Run;
  readonly write: Run;
  readonly #prepared: PreparedStatements | null;

  constructor(em: EntityManager, prepared: PreparedStatements | null) {
    this.tables = tablesOf(em);
    this.#prepared = prepared;
    const run = runOn(em, em.getTransactionContext(), prepared);
    const guarded: Run = async statement => {
      refuseEndedTransaction(em);
      return run(statement);
    };
    this.read = guarded;
    this.write = guarded;
  }

  readonly atomically = <T>(work: (run: Run) => Promise<T>): Promise<T> => work(this.write);

  inTransaction(em: EntityManager): TransactionSession {
    return new TransactionSession(em, this.#prepared);
  }
}
