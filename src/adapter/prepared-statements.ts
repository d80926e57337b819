import type { EntityManager } from '@mikro-orm/core';
import type { Row } from './session.ts';
import type { Statement } from './sql/statement.ts';

/** Sends statements whose plan the database keeps. */
export interface PreparedStatements {
  send(statement: Statement, sending: Sending): Promise<Row[]>;
}

export interface Sending {
  /** A transaction; else any connection. */
  readonly on?: Kysely | undefined;
  /** Called when it has its connection, on which nothing is sent if that throws. */
  readonly begun?: () => void;
  /** How it is sent where it can't be prepared. */
  readonly asText: () => Promise<Row[]>;
}

/** MikroORM 7's connection, beneath its `execute`, which writes the values into the text. */
export interface KyselyConnection {
  ensureConnection(): Promise<void>;
  getClient(): Kysely;
  /** The driver's own client. Rejects when the host made the Kysely itself; before 7.2 there is none. */
  getNativeClient?(): Promise<unknown>;
  /** Logs what the callback does as the ORM logs its own statements. */
  executeQuery<T>(query: string, work: () => Promise<T>, context: object): Promise<T>;
}

/** What its transactions are. */
export interface Kysely {
  getExecutor(): { provideConnection<T>(work: (connection: RawConnection) => Promise<T>): Promise<T> };
}

/** One connection of the driver's, the same object for as long as it lives. */
export interface RawConnection {
  executeQuery(query: {
    readonly sql: unknown;
    readonly parameters: readonly unknown[];
  }): Promise<{ readonly rows: Row[] }>;
}

/** Null where the connection is another's than MikroORM 7's own. */
export function kyselyConnectionOf(em: EntityManager): KyselyConnection | null {
  const connection = em.getConnection('write') as unknown as Partial<KyselyConnection>;
  return typeof connection.getNativeClient === 'function' ? (connection as KyselyConnection) : null;
}

/** Whether the host's `onQuery` hook leaves the text as it is: what it adds may differ with every call. */
export function isLeftAlone(em: EntityManager, { sql, params }: Statement): boolean {
  const onQuery = em.config.get('onQuery' as never) as unknown as (sql: string, params: readonly unknown[]) => string;
  return onQuery(sql, params) === sql;
}

/** Runs the work on a connection, logged and with its errors as the ORM has them. */
export async function onConnection<T>(
  em: EntityManager,
  connection: KyselyConnection,
  { sql, params }: Statement,
  { on, begun = () => {} }: Pick<Sending, 'on' | 'begun'>,
  work: (connection: RawConnection) => Promise<T>,
): Promise<T> {
  await connection.ensureConnection();
  const executor = (on ?? connection.getClient()).getExecutor();
  const showsValues = em.config.getLogger().isEnabled('query-params');
  const query = showsValues ? em.getPlatform().formatQuery(sql, params) : sql;

  try {
    return await executor.provideConnection(raw => {
      // Before it is logged: what nobody waits for is neither sent nor said to be.
      begun();
      return connection.executeQuery(query, () => work(raw), { query: sql, params });
    });
  } catch (error) {
    throw em.getDriver().convertException(error as Error);
  }
}
