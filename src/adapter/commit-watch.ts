import type { EntityManager, EventSubscriber, TransactionEventArgs } from '@mikro-orm/core';
import { noteEnd, noteSavepoint, rootOf, type DriverTransaction } from './open-transaction.ts';

/**
 * Calls back after the real commit of a transaction, and only then: not at a flush, not at the release of a savepoint, not
 * after a rollback. One subscriber on the ORM's event manager, which forks share and transactions copy, and in its
 * configuration, from which a fork with an event manager of its own has it: it must have seen a transaction begin.
 */
export class CommitWatch implements EventSubscriber {
  readonly #onCommit: () => void;
  /** Root transactions in which something was staged. */
  readonly #marked = new WeakSet<DriverTransaction>();
  /** The transaction in which an EntityManager opens its savepoint. */
  readonly #parents = new WeakMap<EntityManager, DriverTransaction>();

  constructor(em: EntityManager, onCommit: () => void) {
    this.#onCommit = onCommit;
    em.getEventManager().registerSubscriber(this);
    em.config.set('subscribers', [...em.config.get('subscribers'), this]);
  }

  /** Calls back once the transaction of this EntityManager has committed. */
  mark(em: EntityManager): void {
    // An event manager that was made before this watch doesn't have it.
    em.getEventManager().registerSubscriber(this);
    this.#marked.add(rootOf(em.getTransactionContext() as DriverTransaction));
  }

  beforeTransactionStart({ em, transaction }: TransactionEventArgs): void {
    if (transaction) {
      this.#parents.set(em, transaction as DriverTransaction);
    }
  }

  afterTransactionStart({ em, transaction }: TransactionEventArgs): void {
    const parent = this.#parents.get(em);
    if (parent !== undefined && isSavepoint(transaction)) {
      noteSavepoint(transaction, parent);
    }
  }

  afterTransactionCommit({ transaction }: TransactionEventArgs): void {
    if (isSavepoint(transaction)) {
      noteEnd(transaction);
    } else if (this.#marked.has(transaction as DriverTransaction)) {
      this.#onCommit();
    }
  }

  afterTransactionRollback({ transaction }: TransactionEventArgs): void {
    if (isSavepoint(transaction)) {
      noteEnd(transaction);
    }
  }
}

/** MikroORM 7 tells of savepoints too. */
function isSavepoint(transaction: unknown): transaction is DriverTransaction {
  return (transaction as DriverTransaction).savepointName !== undefined;
}
