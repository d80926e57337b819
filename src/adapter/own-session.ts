import { IsolationLevel, type EntityManager } from '@mikro-orm/core';
import type { SqlDialect } from './sql/dialect.ts';
import { retryTransient } from './retry-transient.ts';
import { runOn } from './run.ts';
import type { Row, Run, Session } from './session.ts';
import type { Statement } from './sql/statement.ts';
import { tablesOf, type Tables } from './tables.ts';

/** The transactions of a connection, as both majors have them; without an EntityManager's events, as nothing is flushed. */
interface TransactionalConnection {
  transactional<T>(work: (transaction: unknown) => Promise<T>, options: object): Promise<T>;
}

/**
 * Writes on connections of the library's own, beside whatever the host's code does. Each transaction is READ COMMITTED
 * whatever the host's default, and is repeated when the database gave it up.
 */
export class OwnSession implements Session {
  readonly tables: Tables;
  readonly #em: EntityManager;
  readonly #dialect: SqlDialect;
  readonly #random: () => number;
  readonly #signal: AbortSignal | undefined;
  readonly #isPinned: () => Promise<boolean>;

  constructor(em: EntityManager, dialect: SqlDialect, random: () => number, like?: OwnSession, signal?: AbortSignal) {
    this.tables = like?.tables ?? tablesOf(em);
    this.#em = em;
    this.#dialect = dialect;
    this.#random = random;
    this.#signal = signal;
    this.#isPinned = like === undefined ? askedOnce(() => dialect.needsTransaction(this.read)) : like.#isPinned;
  }

  /** The same session for one call whose wait for a connection ends with the signal; MikroORM 7 only, 6 has its pool's limit. */
  until(signal: AbortSignal): OwnSession {
    return new OwnSession(this.#em, this.#dialect, this.#random, this, signal);
  }

  readonly read: Run = statement => this.#run(statement);

  readonly write: Run = async statement => {
    return (await this.#isPinned())
      ? this.atomically(run => run(statement))
      : retryTransient(() => this.#run(statement), this.#random);
  };

  readonly atomically = <T>(work: (run: Run) => Promise<T>): Promise<T> => {
    return retryTransient(() => this.#transaction(work), this.#random);
  };

  #transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const connection = this.#em.getConnection('write') as unknown as TransactionalConnection;
    const options = this.#dialect.hasIsolationLevels ? { isolationLevel: IsolationLevel.READ_COMMITTED } : {};

    return connection.transactional(
      transaction => this.#dialect.transaction(runOn(this.#em, transaction, this.#signal), work),
      options,
    );
  }

  #run(statement: Statement): Promise<Row[]> {
    return runOn(this.#em, undefined, this.#signal)(statement);
  }
}

/** Asks until it is answered, then keeps the answer. */
function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;

  return () => {
    answer ??= ask().catch((error: unknown) => {
      answer = undefined;
      throw error;
    });

    return answer;
  };
}
