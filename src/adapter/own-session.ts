import { IsolationLevel, type EntityManager } from '@mikro-orm/core';
import { begunWithin, type ConnectionLimit } from '../core/begun-within.ts';
import { ConnectionTimeoutError } from '../core/errors.ts';
import { isPoolTimeout } from './database-errors.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import type { DatabaseSetup, SqlDialect } from './sql/dialect.ts';
import { freeLostConnections } from './free-lost-connections.ts';
import { retryTransient } from './retry-transient.ts';
import { runOn } from './run.ts';
import type { Row, Run, Session } from './session.ts';
import type { Statement } from './sql/statement.ts';
import { tablesOf, type Tables } from './tables.ts';
import { TransactionSession } from './transaction-session.ts';

/** The ORM's connections, as both majors have them; without an EntityManager's events, as nothing is flushed. */
interface Connections {
  transactional<T>(work: (transaction: unknown) => Promise<T>, options: object): Promise<T>;
  ensureConnection(): Promise<void>;
  /** MikroORM 7: a Kysely, which lends out one of its connections without a transaction. */
  getClient?(): { connection(): { execute<T>(work: (connection: unknown) => Promise<T>): Promise<T> } };
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
  readonly #prepared: PreparedStatements | null;
  readonly #limit: ConnectionLimit | undefined;
  readonly #setup: () => Promise<DatabaseSetup>;

  constructor(
    em: EntityManager,
    dialect: SqlDialect,
    random: () => number,
    prepared: PreparedStatements | null,
    like?: OwnSession,
    limit?: ConnectionLimit,
  ) {
    this.tables = like?.tables ?? tablesOf(em);
    this.#em = em;
    this.#dialect = dialect;
    this.#random = random;
    this.#prepared = prepared;
    this.#limit = limit;
    this.#setup = like === undefined ? askedOnce(() => dialect.setup(statement => this.#run(statement))) : like.#setup;
  }

  /** The same session for calls that wait so long for a connection and no longer. With MikroORM 6 a lone statement has its pool's limit. */
  within(limit: ConnectionLimit): OwnSession {
    return new OwnSession(this.#em, this.#dialect, this.#random, this.#prepared, this, limit);
  }

  readonly read: Run = statement => {
    return this.#dialect.name === 'sqlite' ? this.#readWithoutWaiting(statement) : this.#run(statement);
  };

  readonly write: Run = async statement => {
    const setup = await this.#askSetup();
    const once = () =>
      setup.needsTransaction ? this.#transaction(run => run(statement), setup) : this.#run(statement);

    return retryTransient(once, this.#random);
  };

  readonly atomically = async <T>(work: (run: Run) => Promise<T>): Promise<T> => {
    const setup = await this.#askSetup();
    return retryTransient(() => this.#transaction(work, setup), this.#random);
  };

  inTransaction(em: EntityManager): TransactionSession {
    return new TransactionSession(em, this.#prepared);
  }

  /** With better-sqlite3 the whole process would wait for whoever writes. */
  async #readWithoutWaiting(statement: Statement): Promise<Row[]> {
    const { hasWaitingRead } = await this.#askSetup();
    return hasWaitingRead ? this.atomically(run => run(statement)) : this.#run(statement);
  }

  #askSetup(): Promise<DatabaseSetup> {
    return this.#inTime(async begun => {
      // Each time: an ORM that was closed and opened again has another client.
      await freeLostConnections(this.#em);
      return this.#setup().finally(begun);
    });
  }

  #transaction<T>(work: (run: Run) => Promise<T>, setup: DatabaseSetup): Promise<T> {
    const options = this.#dialect.hasIsolationLevels ? { isolationLevel: IsolationLevel.READ_COMMITTED } : {};

    return this.#inTime(begun =>
      this.#connections.transactional(async transaction => {
        begun();
        return this.#dialect.transaction(runOn(this.#em, transaction, this.#prepared), work, setup);
      }, options),
    );
  }

  #run(statement: Statement): Promise<Row[]> {
    if (this.#limit === undefined) {
      return runOn(this.#em, undefined, this.#prepared)(statement);
    }

    return this.#inTime(async begun => {
      if (!('getClient' in this.#connections)) {
        begun();
        return runOn(this.#em, undefined, this.#prepared)(statement);
      }

      await this.#connections.ensureConnection();
      const lender = this.#connections.getClient!().connection();

      return lender.execute(async connection => {
        begun();
        return runOn(this.#em, connection, this.#prepared)(statement);
      });
    });
  }

  async #inTime<T>(start: (begun: () => void) => Promise<T>): Promise<T> {
    if (this.#limit === undefined) {
      return start(() => {});
    }

    try {
      return await begunWithin(this.#limit, start);
    } catch (error) {
      throw isPoolTimeout(error) ? new ConnectionTimeoutError(this.#limit.operation, { cause: error }) : error;
    }
  }

  get #connections(): Connections {
    return this.#em.getConnection('write') as unknown as Connections;
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
