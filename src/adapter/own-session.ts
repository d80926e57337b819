import { IsolationLevel, type EntityManager } from '@mikro-orm/core';
import { begunWithin, type ConnectionLimit } from '../core/begun-within.ts';
import { ConnectionTimeoutError } from '../core/errors.ts';
import { isPoolTimeout } from './database-errors.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import type { DatabaseSetup, SqlDialect } from './sql/dialect.ts';
import { freeLostConnections } from './free-lost-connections.ts';
import { JointTransactions } from './joint-transactions.ts';
import { retryTransient } from './retry-transient.ts';
import { runOn, runOnceBegun } from './run.ts';
import type { Row, Run, Session } from './session.ts';
import type { Statement } from './sql/statement.ts';
import { tablesOf, type Tables } from './tables.ts';
import { TransactionSession } from './transaction-session.ts';

/** The ORM's connections, as both majors have them; without an EntityManager's events, as nothing is flushed. */
interface Connections {
  transactional<T>(work: (transaction: unknown) => Promise<T>, options: object): Promise<T>;
  /** What is beneath: another one when the ORM was closed and opened again. */
  getClient?(): object;
  getKnex?(): object;
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
  /** Where there is one writer; by its client, as what waits for a closed one may wait for ever. */
  readonly #joint: WeakMap<object, JointTransactions>;

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
    this.#setup =
      like === undefined ? askedOnce(() => dialect.setup(statement => this.#run(statement, () => {}))) : like.#setup;
    this.#joint = like === undefined ? new WeakMap() : like.#joint;
  }

  /** The same session for calls that wait so long for a connection and no longer. With MikroORM 6 a lone statement has its pool's limit. */
  within(limit: ConnectionLimit): OwnSession {
    return new OwnSession(this.#em, this.#dialect, this.#random, this.#prepared, this, limit);
  }

  readonly read: Run = statement => {
    // Elsewhere it needs no set-up: a notification, which nobody waits for, would be two statements, and a host's `close()` between them.
    return this.#dialect.hasOneWriter
      ? this.#send(statement, ({ hasWaitingRead }) => hasWaitingRead)
      : this.#inTurns(begun => this.#run(statement, begun));
  };

  readonly write: Run = statement => this.#send(statement, ({ needsTransaction }) => needsTransaction);

  readonly atomically = <T>(work: (run: Run) => Promise<T>): Promise<T> => {
    return this.#inTurns(async begun => this.#transaction(work, await this.#askSetup(), begun));
  };

  inTransaction(em: EntityManager): TransactionSession {
    return new TransactionSession(em, this.#prepared);
  }

  #send(statement: Statement, inTransaction: (setup: DatabaseSetup) => boolean): Promise<Row[]> {
    return this.#inTurns(async begun => {
      const setup = await this.#askSetup();
      return inTransaction(setup)
        ? this.#transaction(run => run(statement), setup, begun)
        : this.#run(statement, begun);
    });
  }

  async #askSetup(): Promise<DatabaseSetup> {
    // Each time: an ORM that was closed and opened again has another client.
    await freeLostConnections(this.#em);
    return this.#setup();
  }

  #inTurns<T>(work: (begun: () => void) => Promise<T>): Promise<T> {
    return retryTransient(() => this.#inTime(work), this.#random);
  }

  #transaction<T>(work: (run: Run) => Promise<T>, setup: DatabaseSetup, begun: () => void): Promise<T> {
    return this.#dialect.hasOneWriter
      ? this.#jointTransactions(setup).run(work, begun)
      : this.#transactionAlone(work, setup, begun);
  }

  #transactionAlone<T>(work: (run: Run) => Promise<T>, setup: DatabaseSetup, begun: () => void = () => {}): Promise<T> {
    const options = this.#dialect.hasIsolationLevels ? { isolationLevel: IsolationLevel.READ_COMMITTED } : {};

    return this.#connections.transactional(async transaction => {
      begun();
      return this.#dialect.transaction(runOn(this.#em, transaction, this.#prepared), work, setup);
    }, options);
  }

  #jointTransactions(setup: DatabaseSetup): JointTransactions {
    const connections = this.#connections;
    const client = (connections.getClient ?? connections.getKnex)!.call(connections);
    const joint = this.#joint.get(client) ?? new JointTransactions(work => this.#transactionAlone(work, setup));
    this.#joint.set(client, joint);

    return joint;
  }

  #run(statement: Statement, begun: () => void): Promise<Row[]> {
    return this.#limit === undefined
      ? runOn(this.#em, undefined, this.#prepared)(statement)
      : runOnceBegun(this.#em, begun, this.#prepared)(statement);
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
