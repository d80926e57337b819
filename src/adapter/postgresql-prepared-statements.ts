import type { EntityManager } from '@mikro-orm/core';
import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import type { Micros } from '../core/time.ts';
import { isPreparedRefused } from './database-errors.ts';
import { nativeClientOf } from './native-client.ts';
import {
  isLeftAlone,
  kyselyConnectionOf,
  type Kysely,
  onConnection,
  type KyselyConnection,
  type PreparedStatements,
  type RawConnection,
  type Sending,
} from './prepared-statements.ts';
import type { Row } from './session.ts';
import { sql, type Statement } from './sql/statement.ts';

/** Plans are made anew, soon at first and then so often: one that was right for an empty table reads a grown one whole. */
const firstPlansLast: Micros = 100_000;
const plansLast: Micros = 5_000_000;

/** Each costs every connection's process some 50 KB, and a host that stages in many schemas has a text for each of them. */
const maxStatements = 100;

const backendPid = sql`select pg_backend_pid() as pid`;

/** The pool of `pg`: the connections in it, which process of the server each was told that it speaks to, and what they take. */
interface Pool {
  readonly _clients?: ReadonlyArray<{ readonly processID?: number | null }>;
  readonly Client?: { readonly Query?: QueryClass };
}

type QueryClass = new (query: NamedQuery & { values: Statement['params']; callback: Answered }) => object;

type Answered = (error: Error | null, result: { readonly rows: Row[] }) => void;

/** What a connection planned: when, and for how long. */
interface Plans {
  readonly madeAt: Micros;
  readonly last: Micros;
}

interface NamedQuery {
  readonly name: string;
  readonly text: string;
}

/**
 * Named prepared statements of `pg`, on MikroORM 7.2 and later: a claim of ten jobs takes longer to parse and plan than to execute.
 * Where they can't be had, through a pooler, or when one is refused (a connection that forgot it), all is sent as text.
 */
export class PostgresqlPreparedStatements implements PreparedStatements {
  readonly #em: EntityManager;
  readonly #connection: KyselyConnection | null;
  readonly #clock: Clock;
  readonly #isTrusted: boolean;
  readonly #queries = new Map<string, NamedQuery>();
  readonly #plans = new WeakMap<RawConnection, Plans>();
  /** Null where nothing can be prepared; undefined until that is known. */
  #Query: QueryClass | null | undefined;

  /** @param isTrusted whether a pooler, if there is one, knows prepared statements */
  constructor(em: EntityManager, clock: Clock, isTrusted = false) {
    this.#em = em;
    this.#connection = kyselyConnectionOf(em);
    this.#clock = clock;
    this.#isTrusted = isTrusted;
    this.#Query = this.#connection === null ? null : undefined;
  }

  async send(statement: Statement, sending: Sending): Promise<Row[]> {
    if (this.#Query === undefined) {
      this.#Query = await this.#queryClass(sending.on);
    }
    const Query = this.#Query;
    const query = Query === null ? null : this.#queryFor(statement.sql);
    if (Query === null || query === null || !isLeftAlone(this.#em, statement)) {
      return sending.asText();
    }

    try {
      return await onConnection(this.#em, this.#connection!, statement, sending, connection =>
        this.#execute(connection, Query, query, statement.params),
      );
    } catch (error) {
      // Nothing was executed, and what comes again is sent as text.
      if (isPreparedRefused(error)) {
        this.#Query = null;
      }
      throw error;
    }
  }

  async #execute(
    connection: RawConnection,
    Query: QueryClass,
    query: NamedQuery,
    values: Statement['params'],
  ): Promise<Row[]> {
    const madeAt = this.#clock.now();
    const plans = this.#plans.get(connection);
    if (plans === undefined) {
      this.#plans.set(connection, { madeAt, last: firstPlansLast });
    } else if (Math.abs(madeAt - plans.madeAt) >= plans.last) {
      this.#plans.set(connection, { madeAt, last: Math.min(2 * plans.last, plansLast) });
      await connection.executeQuery({ sql: 'discard plans', parameters: [] });
    }

    return new Promise((resolve, reject) => {
      // Given here, not left to `pg`: it would put a function on the query later, and V8 keeps what is assigned so, and the rows
      // with it, until the next collection of the whole heap. `executeQuery` resolves when the query was sent, with nothing.
      const callback: Answered = (error, result) => (error ? reject(error) : resolve(result.rows));
      connection.executeQuery({ sql: new Query({ ...query, values, callback }), parameters: [] }).catch(reject);
    });
  }

  /** The text says all: another one is another statement, whoever else prepares on the same connection. Null: there are too many. */
  #queryFor(statement: string): NamedQuery | null {
    let query = this.#queries.get(statement);
    if (query === undefined) {
      if (this.#queries.size === maxStatements) {
        return null;
      }

      let place = 0;
      const text = statement.replaceAll('?', () => `$${++place}`);
      query = { name: `durable_job_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`, text };
      this.#queries.set(statement, query);
    }

    return query;
  }

  /** A pooler tells of a process of its own making, and hands the next statement to any connection: the statement's plan is elsewhere. */
  async #queryClass(on: Kysely | undefined): Promise<QueryClass | null> {
    const pool = (await nativeClientOf(this.#em)) as Pool | undefined;
    const Query = pool?.Client?.Query ?? null;
    if (Query === null || this.#isTrusted) {
      return Query;
    }

    const [row] = await onConnection(this.#em, this.#connection!, backendPid, { on }, async connection => {
      return (await connection.executeQuery({ sql: backendPid.sql, parameters: [] })).rows;
    });
    return pool!._clients?.some(({ processID }) => processID === row!.pid) ? Query : null;
  }
}
