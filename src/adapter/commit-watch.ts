import type { EntityManager, EventSubscriber, TransactionEventArgs } from '@mikro-orm/core';
import { mergedLanes, type DueLane } from '../core/due-lane.ts';
import type { JobSnapshot } from '../core/snapshot.ts';
import {
  isRolledBack,
  noteEnd,
  noteRollback,
  noteSavepoint,
  rootOf,
  watchRollbacks,
  type DriverTransaction,
} from './open-transaction.ts';
import type { RowKey } from './sql/dialect.ts';

/** What a transaction leaves to be looked at when it has committed. */
export interface Staged {
  /** Jobs that wait for parents. */
  readonly awaiting: readonly RowKey[];
  /** Jobs that were ended and that others may wait for. */
  readonly ended: readonly RowKey[];
  /** Where jobs became due; undefined: anywhere. */
  readonly lanes: readonly DueLane[] | undefined;
}

type OnCommit = (staged: Staged, created: readonly JobSnapshot[]) => Promise<void>;

/**
 * Calls back after the real commit of a transaction, and only then: not at a flush, not at the release of a savepoint, not
 * after a rollback. One subscriber on the ORM's event manager, which forks share and transactions copy, and in its
 * configuration, from which a fork with an event manager of its own has it: it must have seen a transaction begin.
 */
export class CommitWatch implements EventSubscriber {
  readonly #onCommit: OnCommit;
  /** Root transactions in which something was staged, with what is worth a look after the commit. */
  readonly #marked = new WeakMap<DriverTransaction, Staged>();
  /** The jobs that were staged in a root transaction, by the transaction or savepoint in which they were. */
  readonly #created = new WeakMap<DriverTransaction, Created[]>();
  /** The transaction in which an EntityManager opens its savepoint. */
  readonly #parents = new WeakMap<EntityManager, DriverTransaction>();

  constructor(em: EntityManager, onCommit: OnCommit) {
    this.#onCommit = onCommit;
    em.getEventManager().registerSubscriber(this);
    em.config.set('subscribers', [...em.config.get('subscribers'), this]);
  }

  /**
   * Calls back once the transaction of this EntityManager has committed, with all that it was marked with, and the jobs that were
   * created in it but for those whose savepoint was rolled back.
   */
  mark(em: EntityManager, what: Partial<Staged>, created: readonly JobSnapshot[] = []): void {
    const staged = { awaiting: [], ended: [], lanes: [], ...what };
    // An event manager that was made before this watch doesn't have it.
    em.getEventManager().registerSubscriber(this);
    const transaction = em.getTransactionContext() as DriverTransaction;
    const root = rootOf(transaction);
    this.#marked.set(root, together(this.#marked.get(root), staged));

    if (created.length > 0) {
      watchRollbacks(transaction);
      const all = this.#created.get(root) ?? [];
      all.push({ transaction, jobs: created });
      this.#created.set(root, all);
    }
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

  async afterTransactionCommit({ transaction }: TransactionEventArgs): Promise<void> {
    if (isSavepoint(transaction)) {
      return noteEnd(transaction);
    }

    const staged = this.#marked.get(transaction as DriverTransaction);
    if (staged !== undefined) {
      const created = this.#created.get(transaction as DriverTransaction) ?? [];
      await this.#onCommit(
        staged,
        created.flatMap(({ transaction, jobs }) => (isRolledBack(transaction) ? [] : jobs)),
      );
    }
  }

  afterTransactionRollback({ transaction }: TransactionEventArgs): void {
    if (isSavepoint(transaction)) {
      noteRollback(transaction);
    }
  }
}

interface Created {
  readonly transaction: DriverTransaction;
  readonly jobs: readonly JobSnapshot[];
}

function together(before: Staged | undefined, staged: Staged): Staged {
  if (before === undefined) {
    return staged;
  }

  const isKnown = before.lanes !== undefined && staged.lanes !== undefined;
  return {
    awaiting: [...before.awaiting, ...staged.awaiting],
    ended: [...before.ended, ...staged.ended],
    lanes: isKnown ? mergedLanes([...before.lanes, ...staged.lanes]) : undefined,
  };
}

/** MikroORM 7 tells of savepoints too. */
function isSavepoint(transaction: unknown): transaction is DriverTransaction {
  return (transaction as DriverTransaction).savepointName !== undefined;
}
