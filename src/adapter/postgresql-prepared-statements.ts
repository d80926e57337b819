import type { EntityManager } from '@mikro-orm/core';
import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import type { Micros } from '../core/time.ts';
import { isPreparedRefused } from './database-errors.ts';
import {
  isLeftAlone,
  kyselyConnectionOf,
  type Kysely,
  onConnection,
  type KyselyConnection,
  type PreparedStatements,
  type RawConnection,
} from './prepared-statements.ts';
import type { Row } from './session.ts';
import type { Statement } from './sql/statement.ts';

/** Plans are made anew so often: one that was right for an empty table reads a grown one whole. */
const planFor: Micros = 5_000_000;

/**
 * Named prepared statements of `pg`, on MikroORM 7.2 and later: a claim of ten jobs takes longer to parse and plan than to execute.
 * Where they can't be had, or are refused once (a pooler in transaction mode, a connection that forgot them), all is sent as text.
 */
export class PostgresqlPreparedStatements implements PreparedStatements {
  readonly #em: EntityManager;
  readonly #connection: KyselyConnection | null;
  readonly #clock: Clock;
  readonly #queries = new Map<string, { readonly name: string; readonly text: string }>();
  readonly #plannedAt = new WeakMap<RawConnection, number>();
  #state: 'unknown' | 'on' | 'off';

  constructor(em: EntityManager, clock: Clock) {
    this.#em = em;
    this.#connection = kyselyConnectionOf(em);
    this.#clock = clock;
    this.#state = this.#connection === null ? 'off' : 'unknown';
  }

  async send(statement: Statement, on: Kysely | undefined, asText: () => Promise<Row[]>): Promise<Row[]> {
    if (!(await this.#isOn(statement))) {
      return asText();
    }

    try {
      return await onConnection(this.#em, this.#connection!, statement, on, connection =>
        this.#execute(connection, statement),
      );
    } catch (error) {
      if (!isPreparedRefused(error)) {
        throw error;
      }
      this.#state = 'off';
      // Nothing was executed. But a transaction has failed with it, and is its owner's to repeat.
      if (on?.isTransaction) {
        throw error;
      }
    }

    return asText();
  }

  async #execute(connection: RawConnection, { sql, params }: Statement): Promise<Row[]> {
    const now = this.#clock.now();
    const plannedAt = this.#plannedAt.get(connection);
    if (plannedAt === undefined) {
      this.#plannedAt.set(connection, now);
    } else if (Math.abs(now - plannedAt) >= planFor) {
      this.#plannedAt.set(connection, now);
      await connection.executeQuery({ sql: 'discard plans', parameters: [] });
    }

    return (await connection.executeQuery({ sql: this.#queryFor(sql), parameters: params })).rows;
  }

  /** The text says all: another one is another statement, whoever else prepares on the same connection. */
  #queryFor(sql: string) {
    let query = this.#queries.get(sql);
    if (query === undefined) {
      let place = 0;
      const text = sql.replaceAll('?', () => `$${++place}`);
      query = { name: `durable_job_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`, text };
      this.#queries.set(sql, query);
    }

    return query;
  }

  async #isOn(statement: Statement): Promise<boolean> {
    if (this.#state === 'unknown') {
      const isOwn = await this.#connection!.getNativeClient!().then(
        () => true,
        () => false,
      );
      this.#state = isOwn ? 'on' : 'off';
    }

    return this.#state === 'on' && isLeftAlone(this.#em, statement);
  }
}
