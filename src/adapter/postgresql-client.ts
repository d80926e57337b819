import type { EntityManager } from '@mikro-orm/core';
import { hasNoPool } from './has-no-pool.ts';
import { nativeClientOf } from './native-client.ts';
import type { Row, Run } from './session.ts';

/** What we use of a `pg` client. */
export interface PostgresqlClient {
  connect(): Promise<void>;
  query(sql: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'notification', listener: (message: { readonly channel: string; readonly payload?: string }) => void): void;
  on(event: 'error' | 'end', listener: (error?: unknown) => void): void;
  removeAllListeners(event: 'end'): void;
  /** The socket, which alone can be given up while it connects. */
  readonly connection: { readonly stream: { destroy(): void } };
}

interface Connection7 {
  getNativeClient(): Promise<{ readonly Client: new (options: object) => PostgresqlClient; readonly options: object }>;
}

interface Knex {
  readonly client: {
    /** Of the pool; where the host gave a function, what it answered last. */
    readonly connectionSettings: object;
    readonly driver: { readonly Client: new (options: object) => PostgresqlClient };
  };
}

interface Connection6 {
  getKnex(): Knex;
}

/**
 * A connected client of our own beside the host's pool, with the pool's options. Null where the driver gives none (MikroORM
 * before 7.2, a pool that the host made itself).
 *
 * @param connectionString used instead of the pool's options, where those lead to a pooler that knows no LISTEN
 * @param stopped gives the connecting up: a server that doesn't answer is waited for by nobody
 */
export async function connectPostgresqlClient(
  em: EntityManager,
  connectionString: string | null,
  stopped: AbortSignal,
): Promise<PostgresqlClient | null> {
  const connection = em.getConnection('write') as unknown as Partial<Connection6 & Connection7>;

  if (connection.getKnex !== undefined) {
    const { driver, connectionSettings } = connection.getKnex().client;
    return connected(new driver.Client(connectionString === null ? connectionSettings : { connectionString }), stopped);
  }
  if (connection.getNativeClient === undefined) {
    return null;
  }

  // The password is a property that can't be enumerated: the options are handed over as they are.
  const { Client, options } = await connection.getNativeClient();
  return connected(new Client(connectionString === null ? options : { connectionString }), stopped);
}

async function connected(client: PostgresqlClient, stopped: AbortSignal): Promise<PostgresqlClient> {
  const giveUp = () => client.connection.stream.destroy();
  // Without a listener an error would end the process, also one that comes while it connects.
  client.on('error', () => {});
  stopped.addEventListener('abort', giveUp, { once: true });

  try {
    await client.connect();
  } finally {
    stopped.removeEventListener('abort', giveUp);
  }

  return client;
}

interface Pool {
  /** Whether it was told to end. */
  readonly ending: boolean;
  query(sql: string): Promise<{ readonly rows: Row[] }>;
}

/**
 * Sends statements that nobody waits for on the host's pool itself. Kysely never gives a connection back that was still connecting when
 * `orm.close()` came (seen with 0.29.6), and the close would wait for it for ever. What a close overtook is given up in silence.
 *
 * @param otherwise where the driver gives no pool (MikroORM 6, before 7.2, a Kysely that the host made itself)
 */
export function onPool(em: EntityManager, otherwise: Run): Run {
  const platform = em.getPlatform() as unknown as { formatQuery(sql: string, params: readonly unknown[]): string };

  return async statement => {
    const pool = (await nativeClientOf(em)) as Pool | undefined;

    if (pool === undefined) {
      return otherwise(statement);
    }

    try {
      return (await pool.query(platform.formatQuery(statement.sql, statement.params))).rows;
    } catch (error) {
      if (pool.ending) {
        return [];
      }
      throw error;
    }
  };
}

/** Whether the ORM is open: a statement after its end would make MikroORM 7 connect again. */
export function isConnected(em: EntityManager): boolean {
  const connection = em.getConnection('write') as unknown as { readonly connected?: boolean };
  return connection.connected !== false && !hasNoPool(em);
}
