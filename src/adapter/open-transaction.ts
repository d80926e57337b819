import type { EntityManager } from '@mikro-orm/core';

/** How both majors' drivers say that a transaction has ended: Kysely (7) by fields, knex (6) by a method. */
interface DriverTransaction {
  readonly isCommitted?: boolean;
  readonly isRolledBack?: boolean;
  isCompleted?(): boolean;
}

/**
 * Whether this EntityManager stands in a transaction that is still open. The one that `transactional()` made keeps its transaction
 * for ever, and so does code that was started inside and runs on: MikroORM goes on calling both "in transaction".
 */
export function hasOpenTransaction(em: EntityManager): boolean {
  const transaction = em.getTransactionContext() as DriverTransaction | undefined;
  const hasEnded = transaction?.isCommitted || transaction?.isRolledBack || transaction?.isCompleted?.();

  return transaction !== undefined && !hasEnded;
}
