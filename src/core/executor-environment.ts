import type { JobStore } from './store.ts';

/** What an adapter lends to an executor, which never sees an EntityManager itself. */
export interface ExecutorEnvironment<Em> {
  /**
   * Says whether an executor may start here.
   *
   * @throws AmbientTransactionError inside a transaction, whose dead context the loops would inherit
   * @throws SchemaMissingError when the tables are missing
   * @returns how many connections the host's pool has; null when that is not known
   */
  check(): Promise<{ readonly connections: number | null }>;

  /** Whether nothing can be written any more, and calls that wait for the database may never be answered. @default false */
  readonly isClosed?: boolean;

  /** @throws AmbientTransactionError when the code that runs now stands in a transaction of the host's */
  refuseTransaction(em: Em, operation: string, advice: string): void;

  /** Whether something was persisted or removed in it and never flushed. @default false */
  hasUnflushed?(em: Em): boolean;

  /** Runs a handler with an EntityManager of its own, which is its request context too. */
  run<T>(work: (em: Em) => Promise<T>): Promise<T>;

  /**
   * One READ COMMITTED transaction: runs `work`, flushes what it left in its EntityManager, then runs `settle` with a store
   * that writes in this transaction, and commits. Rolls everything back when one of them rejects.
   *
   * @param cut fires when nothing of it will be committed: a database that can, cancels the statement that `work` waits for and refuses
   *   others. `settle` then rejects by itself, so that whoever can't interrupt needn't look at it
   */
  transactional<T>(
    em: Em,
    work: (em: Em) => Promise<T>,
    settle: (store: Pick<JobStore, 'settle'>, result: T) => Promise<void>,
    cut: AbortSignal,
  ): Promise<T>;
}
