import type { ExecutorEnvironment } from './executor-environment.ts';
import type { Logger } from './logger.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { RecurringStore } from './recurring.ts';
import type { SettableClock } from './settable-clock.ts';
import type { JobSnapshot } from './snapshot.ts';
import type { JobStore, StoreHint } from './store.ts';

/**
 * Where `Jobs` lets the testing kit take hold of it. A registered symbol, so that an ESM and a CommonJS copy of this package know
 * each other's.
 */
export const testBench: unique symbol = Symbol.for('mikro-orm-jobs.testing') as never;

/** What the testing kit works on. `Em` is what a test may have a transaction in. */
export interface TestBench<Em> {
  /** By which everything of these jobs goes. */
  readonly clock: SettableClock;
  readonly logger: Logger;
  /** Tells of what this process commits. @returns ends it */
  hear(listener: (hint: StoreHint) => void): () => unknown;
  /**
   * Beside everything, or inside of the open transaction of `em`, whose pending changes are saved there as its commit would.
   *
   * @throws AmbientTransactionError without `em`, inside a transaction
   * @throws TransactionRequiredError, EntityManagerMismatchError for an `em` that can't be worked in
   */
  place(em: Em | undefined): Promise<TestPlace>;
  /** Jobs with their payloads, the oldest first, as they are seen from `em`. */
  staged(em: Em, definition: { readonly name: string; readonly version: string } | null): Promise<StagedText[]>;
}

/** Where jobs are run. */
export interface TestPlace {
  /** Each one remembers nothing of what was claimed before: where time stands still, that would never get old. */
  store(): JobStore;
  readonly recurring: RecurringStore;
  readonly idempotency: IdempotencyStore;
  readonly environment: ExecutorEnvironment<unknown>;
}

export interface StagedText {
  readonly job: JobSnapshot;
  /** What would be run: an operator's repair where there is one. */
  readonly payload: string;
}
