import type { EntityManager } from '@mikro-orm/core';

interface Client {
  once(event: 'end', listener: () => void): void;
  release?: (this: void, destroy: boolean) => void;
}

interface Pool {
  on(event: 'acquire', listener: (client: Client) => void): void;
}

const watched = new WeakSet<Pool>();

/**
 * MikroORM 7 (seen with 7.2.1) never gives back the pool's slot of a PostgreSQL connection that is cut inside a transaction: as
 * many as the pool has, and every query waits for ever. So the slot is given back when the connection ends. MikroORM 6 does it
 * itself.
 */
export async function freeLostConnections(em: EntityManager): Promise<void> {
  const connection = em.getConnection('write') as unknown as { getNativeClient?(): Promise<unknown> };
  // None is told of where the host made the Kysely itself: its pool is the host's to look after.
  const pool = (await connection.getNativeClient?.().catch(() => undefined)) as Partial<Pool> | undefined;

  if (isPool(pool) && !watched.has(pool)) {
    watched.add(pool);
    pool.on('acquire', giveBackAtEnd());
  }
}

function giveBackAtEnd(): (client: Client) => void {
  const known = new WeakSet<Client>();

  return client => {
    if (!known.has(client)) {
      known.add(client);
      client.once('end', () => giveBack(client));
    }
  };
}

function giveBack(client: Client): void {
  const { release } = client;
  // Whoever still waits for an answer gives it back again, and should hear why its statement failed, not of that.
  client.release = () => {};

  try {
    release?.(true);
  } catch {
    // Given back already, by whoever noticed first.
  }
}

function isPool(value: Partial<Pool> | undefined): value is Pool {
  return typeof value?.on === 'function';
}
