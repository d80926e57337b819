import type { EntityManager } from '@mikro-orm/core';

interface KnexConnection {
  getKnex?(): { readonly client: { readonly pool?: { readonly destroyed: boolean } } };
}

/**
 * Whether the ORM is closed, or being closed, with MikroORM 6: knex has no pool any more. A call that was on its way is never answered,
 * and one that comes while the pool is being emptied waits for a minute.
 */
export function hasNoPool(em: EntityManager): boolean {
  const connection = em.getConnection('write') as unknown as KnexConnection;
  const knex = connection.getKnex?.();

  return knex !== undefined && (knex.client.pool?.destroyed ?? true);
}
