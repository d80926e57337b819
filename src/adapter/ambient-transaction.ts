import type { EntityManager } from '@mikro-orm/core';
import { AmbientTransactionError } from '../core/errors.ts';
import { isWithinOpenTransaction } from './open-transaction.ts';

/**
 * Whether the code that runs now stands in a transaction of this ORM: in `transactional()`, or after `begin()` on the
 * EntityManager that its context resolves to. A bare `fork.begin()` can't be seen by anyone but that fork.
 */
export function isInAmbientTransaction(em: EntityManager): boolean {
  const current = em.getContext(false);
  return isWithinOpenTransaction(current) && current.getDriver() === em.getDriver();
}

/** @throws AmbientTransactionError before any SQL */
export function refuseAmbientTransaction(em: EntityManager, operation: string, advice: string): void {
  if (isInAmbientTransaction(em)) {
    throw new AmbientTransactionError(operation, advice);
  }
}
