import type { JobKey } from '../core/job-key.ts';
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
  readonly #onCommit: (awaiting: readonly JobKey[]) => void;
  /** Root transactions in which something was staged, with what is worth a look after the commit. */
  readonly #marked = new WeakMap<Transaction, JobKey[]>();
  /** The transaction in which an EntityManager opens its savepoint, and the root of each savepoint: 7 links neither. */
  readonly #parents = new WeakMap<EntityManager, Transaction>();
  readonly #roots = new WeakMap<Transaction, Transaction>();

  constructor(em: EntityManager, onCommit: (awaiting: readonly JobKey[]) => void) {
    this.#onCommit = onCommit;
    em.getEventManager().registerSubscriber(this);
    em.config.set('subscribers', [...em.config.get('subscribers'), this]);
  }

  /** Calls back once the transaction of this EntityManager has committed. @param awaiting jobs that wait for parents */
  mark(em: EntityManager, awaiting: readonly JobKey[]): void {
    // An event manager that was made before this watch doesn't have it.
    em.getEventManager().registerSubscriber(this);
    const root = this.#rootOf(em.getTransactionContext() as Transaction);
    this.#marked.set(root, [...(this.#marked.get(root) ?? []), ...awaiting]);
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
    const awaiting = this.#marked.get(transaction as Transaction);
    if (awaiting !== undefined) {
      this.#onCommit(awaiting);
    }
  }

  #rootOf(transaction: Transaction): Transaction {
    const { parentTransaction } = transaction;
    return parentTransaction ? this.#rootOf(parentTransaction) : (this.#roots.get(transaction) ?? transaction);
  }
}
