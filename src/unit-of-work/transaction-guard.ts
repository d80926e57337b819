import type { EntityManager, EventSubscriber, FlushEventArgs, TransactionEventArgs } from '@mikro-orm/core';
import { UnitControlError } from './errors.ts';

interface GuardedUnit {
  readonly em: EntityManager;
  /** Whether work still runs: until it has returned or thrown, the transaction doesn't end. */
  readonly isWorking: boolean;
  /** Makes the unit rollback-only. */
  fail(cause: unknown): void;
  /** The last statements of the transaction. Rejects to roll it back. */
  beforeCommit(): Promise<void>;
}

/**
 * Listens to the events of one unit's EntityManager, so that nothing but its unit of work ends its transaction, whichever way
 * the EntityManager was reached (the global one resolves to it). Savepoints and other EntityManagers are none of its business.
 */
export class TransactionGuard implements EventSubscriber {
  readonly #unit: GuardedUnit;
  #openFlushes = 0;

  constructor(unit: GuardedUnit) {
    this.#unit = unit;
  }

  /** A flush that began and didn't end well: the database refused something, or a hook did. */
  get hasFailedFlush(): boolean {
    return this.#openFlushes > 0;
  }

  beforeFlush({ em }: FlushEventArgs): void {
    if (em === this.#unit.em) {
      this.#openFlushes++;
    }
  }

  afterFlush({ em }: FlushEventArgs): void {
    if (em === this.#unit.em) {
      this.#openFlushes--;
    }
  }

  /** A second transaction under one EntityManager; on SQLite it would wait for the first for ever. */
  beforeTransactionStart({ em }: TransactionEventArgs): void {
    if (em === this.#unit.em) {
      this.#refuse('em.begin()');
    }
  }

  async beforeTransactionCommit({ em }: TransactionEventArgs): Promise<void> {
    if (em !== this.#unit.em) {
      return;
    }
    if (this.#unit.isWorking) {
      this.#refuse('em.commit()');
    }

    await this.#unit.beforeCommit();
  }

  beforeTransactionRollback({ em }: TransactionEventArgs): void {
    if (em === this.#unit.em && this.#unit.isWorking) {
      this.#refuse('em.rollback()');
    }
  }

  #refuse(what: string): never {
    const error = new UnitControlError(what);
    this.#unit.fail(error);
    throw error;
  }
}
