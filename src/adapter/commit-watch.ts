import type { EntityManager, EventSubscriber, TransactionEventArgs } from '@mikro-orm/core';

/** What both majors hand to transaction events: 7 marks savepoints, 6 links a nested transaction to its parent. */
interface Transaction {
  readonly savepointName?: string;
  readonly parentTransaction?: Transaction;
}

/**
 * Calls back after the real commit of a transaction, and only then: not at a flush, not at the release of a savepoint, not
 * after a rollback. One subscriber on the ORM's event manager, which forks share and transactions copy, and in its
 * configuration, from which a fork with an event manager of its own has it: it must have seen a transaction begin.
 */
export class CommitWatch implements EventSubscriber {
  readonly #onCommit: () => void;
  /** Root transactions in which something was staged. */
  readonly #marked = new WeakSet<Transaction>();
  /** The transaction in which an EntityManager opens its savepoint, and the root of each savepoint: 7 links neither. */
  readonly #parents = new WeakMap<EntityManager, Transaction>();
  readonly #roots = new WeakMap<Transaction, Transaction>();

  constructor(em: EntityManager, onCommit: () => void) {
    this.#onCommit = onCommit;
    em.getEventManager().registerSubscriber(this);
    em.config.set('subscribers', [...em.config.get('subscribers'), this]);
  }

  /** Calls back once the transaction of this EntityManager has committed. */
  mark(em: EntityManager): void {
    // An event manager that was made before this watch doesn't have it.
    em.getEventManager().registerSubscriber(this);
    this.#marked.add(this.#rootOf(em.getTransactionContext() as Transaction));
  }

  beforeTransactionStart({ em, transaction }: TransactionEventArgs): void {
    if (transaction) {
      this.#parents.set(em, transaction as Transaction);
    }
  }

  afterTransactionStart({ em, transaction }: TransactionEventArgs): void {
    const parent = this.#parents.get(em);
    if (parent !== undefined && (transaction as Transaction).savepointName !== undefined) {
      this.#roots.set(transaction as Transaction, this.#rootOf(parent));
    }
  }

  afterTransactionCommit({ transaction }: TransactionEventArgs): void {
    if (this.#marked.has(transaction as Transaction)) {
      this.#onCommit();
    }
  }

  #rootOf(transaction: Transaction): Transaction {
    const { parentTransaction } = transaction;
    return parentTransaction ? this.#rootOf(parentTransaction) : (this.#roots.get(transaction) ?? transaction);
  }
}
