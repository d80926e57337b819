import type { EntityManager } from '@mikro-orm/core';

/**
 * The driver's own client beneath MikroORM 7.2 and later: a pool of `pg`, a database of better-sqlite3. Undefined where the driver gives none
 * (MikroORM 6, before 7.2, a Kysely that the host made itself), or none now.
 */
export async function nativeClientOf(em: EntityManager): Promise<object | undefined> {
  const connection = em.getConnection('write') as unknown as { getNativeClient?(): Promise<object> };
  return connection.getNativeClient?.().catch(() => undefined);
}
