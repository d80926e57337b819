import type { EntityManager } from '@mikro-orm/core';

interface KnexConnection {
  getKnex?(): { readonly client: { readonly pool?: object } };
}

/** Whether the ORM was closed with MikroORM 6, where knex has no pool any more: a call that was on its way is never answered. */
export function hasNoPool(em: EntityManager): boolean {
  const connection = em.getConnection('write') as unknown as KnexConnection;
  const knex = connection.getKnex?.();

  return knex !== undefined && knex.client.pool === undefined;
}
