import type { EntityManager } from '@mikro-orm/core';
import { refuseEndedTransaction } from '../entities/refuse-ended-transaction.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import { runOn } from './run.ts';
import type { Run, Session } from './session.ts';
import { tablesOf, type Tables } from './tables.ts';

/** Writes in the open transaction of an EntityManager, and nowhere else. Nothing is repeated: the transaction is its owner's. */
export class TransactionSession implements Session {
  readonly tables: Tables;
  readonly #em: EntityManager;
  readonly #prepared: PreparedStatements | null;
  readonly #run: Run;

  constructor(em: EntityManager, prepared: PreparedStatements | null) {
    this.tables = tablesOf(em);
    this.#em = em;
    this.#prepared = prepared;
    this.#run = runOn(em, em.getTransactionContext(), prepared);
  }

  readonly write: Run = async statement => {
    refuseEndedTransaction(this.#em);
    return this.#run(statement);
  };

  readonly read: Run = this.write;

  readonly atomically = <T>(work: (run: Run) => Promise<T>): Promise<T> => work(this.write);

  inTransaction(em: EntityManager): TransactionSession {
    return new TransactionSession(em, this.#prepared);
  }
}
