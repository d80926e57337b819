import type { EntityManager } from '@mikro-orm/core';

/** A transaction or savepoint, as Kysely (MikroORM 7) or knex (6) hands it out. */
export interface DriverTransaction {
  /** Kysely says so of a transaction, and never of a savepoint. */
  readonly isCommitted?: boolean;
  readonly isRolledBack?: boolean;
  /** knex says so of both. */
  isCompleted?(): boolean;
  readonly savepointName?: string;
  /** knex: the savepoint's own, through which MikroORM 6 rolls back without an event. */
  rollback?(error?: unknown): unknown;
  /** What a savepoint stands in: knex links it. */
  readonly parentTransaction?: DriverTransaction;
}

/** What Kysely doesn't tell of savepoints, noted when MikroORM announces them. */
const parents = new WeakMap<DriverTransaction, DriverTransaction>();
const endedSavepoints = new WeakSet<DriverTransaction>();
const rolledBack = new WeakSet<DriverTransaction>();
const watched = new WeakSet<DriverTransaction>();

export function noteSavepoint(savepoint: DriverTransaction, parent: DriverTransaction): void {
  parents.set(savepoint, parent);
}

export function noteEnd(savepoint: DriverTransaction): void {
  endedSavepoints.add(savepoint);
}

export function noteRollback(savepoint: DriverTransaction): void {
  endedSavepoints.add(savepoint);
  rolledBack.add(savepoint);
}

/** Notes the rollbacks of a savepoint and those around it, which knex tells nobody of. */
export function watchRollbacks(transaction: DriverTransaction): void {
  const parent = parentOf(transaction);
  if (parent === undefined || watched.has(transaction)) {
    return;
  }

  watched.add(transaction);
  const rollback = transaction.rollback?.bind(transaction);
  if (transaction.parentTransaction !== undefined && rollback !== undefined) {
    transaction.rollback = error => {
      rolledBack.add(transaction);
      return rollback(error);
    };
  }
  watchRollbacks(parent);
}

/** Whether what was written on a savepoint is gone, though its root transaction has committed. */
export function isRolledBack(transaction: DriverTransaction): boolean {
  const parent = parentOf(transaction);
  return rolledBack.has(transaction) || (parent !== undefined && isRolledBack(parent));
}

export function rootOf(transaction: DriverTransaction): DriverTransaction {
  const parent = parentOf(transaction);
  return parent === undefined ? transaction : rootOf(parent);
}

/**
 * Whether this EntityManager writes in a transaction. The one that `transactional()` made keeps its transaction for ever, and so
 * does code that was started inside and runs on: MikroORM goes on calling both "in transaction", and what Kysely is sent on an ended
 * savepoint goes to a connection that is somebody else's by then.
 */
export function hasOpenTransaction(em: EntityManager): boolean {
  const transaction = em.getTransactionContext() as DriverTransaction | undefined;
  return transaction !== undefined && isOpen(transaction);
}

/** Whether a transaction is open around this EntityManager, be it that its own savepoint has ended. */
export function isWithinOpenTransaction(em: EntityManager): boolean {
  const transaction = em.getTransactionContext() as DriverTransaction | undefined;
  return transaction !== undefined && isOpen(rootOf(transaction));
}

function isOpen(transaction: DriverTransaction): boolean {
  const { isCommitted, isRolledBack } = transaction;
  const hasEnded = isCommitted || isRolledBack || transaction.isCompleted?.() || endedSavepoints.has(transaction);
  const parent = parentOf(transaction);

  return !hasEnded && (parent === undefined || isOpen(parent));
}

function parentOf(transaction: DriverTransaction): DriverTransaction | undefined {
  return transaction.parentTransaction ?? parents.get(transaction);
}
