import type { EntityManager, EventSubscriber, TransactionEventArgs } from '@mikro-orm/core';
import { TransactionControlError, TransactionRequiredError } from '../core/errors.ts';

/**
 * Watches a transaction that the library opened for the host's work: it ends with the library's own last statement, or not at
 * all. A work that commits or rolls back itself would otherwise have its settlement sent outside of it.
 */
export class OwnTransaction implements EventSubscriber {
  readonly #em: EntityManager;
  readonly #transaction: unknown;
  #isWorking = true;
  #violation: TransactionControlError | null = null;

  constructor(em: EntityManager) {
    if (!em.isInTransaction()) {
      throw new TransactionRequiredError('job.transactional()', 'transactions are disabled in this ORM.');
    }

    this.#em = em;
    this.#transaction = em.getTransactionContext();
    // A transaction's EntityManager has an event manager of its own, so this is gone with it.
    em.getEventManager().registerSubscriber(this);
  }

  async work<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#check();

      return result;
    } finally {
      this.#isWorking = false;
    }
  }

  beforeTransactionStart({ em }: TransactionEventArgs): void {
    this.#refuse(em, 'em.begin()');
  }

  beforeTransactionCommit({ em }: TransactionEventArgs): void {
    this.#refuse(em, 'em.commit()');
  }

  beforeTransactionRollback({ em }: TransactionEventArgs): void {
    this.#refuse(em, 'em.rollback()');
  }

  #refuse(em: EntityManager, call: string): void {
    if (em === this.#em && this.#isWorking) {
      this.#violation ??= new TransactionControlError(call);
      throw this.#violation;
    }
  }

  #check(): void {
    if (this.#violation !== null) {
      throw this.#violation;
    }
    if (this.#em.getTransactionContext() !== this.#transaction) {
      throw new TransactionControlError('em.begin(), em.commit() or em.rollback()');
    }
  }
}
