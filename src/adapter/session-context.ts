import type { EntityManager } from '@mikro-orm/core';

/** Whether connections are given the variables and the role of whoever asks for them (MikroORM 7.2): then each asks for itself. */
export function hasSessionContext(em: EntityManager): boolean {
  return (em.config.get as (option: string) => unknown).call(em.config, 'sessionContext') === 'connection';
}
