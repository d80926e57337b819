import type { EntityManager } from '@mikro-orm/core';
import type { ExecutorEnvironment } from '../core/executor-environment.ts';
import type { Logger } from '../core/logger.ts';
import type { SettableClock } from '../core/settable-clock.ts';
import type { StoreHint } from '../core/store.ts';
import type { StagedText, TestBench, TestPlace } from '../core/test-bench.ts';
import { refuseAmbientTransaction } from './ambient-transaction.ts';
import type { HintChannel } from './hint-channel.ts';
import { toSnapshot } from './job-row.ts';
import { MikroOrmIdempotencyStore } from './mikro-orm-idempotency-store.ts';
import { MikroOrmJobStore } from './mikro-orm-job-store.ts';
import { MikroOrmRecurringStore } from './mikro-orm-recurring-store.ts';
import { hasOpenTransaction } from './open-transaction.ts';
import { stagedJobs } from './sql/shared/staged-jobs.ts';
import { stagingTransaction } from './staging-transaction.ts';
import type { StoreParts } from './store-parts.ts';
import { TransactionEnvironment } from './transaction-environment.ts';

export interface TestBenchParts {
  /** The ORM's own EntityManager. */
  readonly em: EntityManager;
  readonly environment: ExecutorEnvironment<unknown>;
  readonly parts: StoreParts;
  readonly partsIn: (transaction: EntityManager) => StoreParts;
  readonly hints: HintChannel;
  readonly clock: SettableClock;
  readonly logger: Logger;
}

/** Lets the testing kit work on a database: on connections of the library's own, or in a transaction of the test's. */
export class MikroOrmTestBench implements TestBench<EntityManager> {
  readonly clock: SettableClock;
  readonly logger: Logger;
  readonly #parts: TestBenchParts;

  constructor(parts: TestBenchParts) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.logger = parts.logger;
  }

  hear(listener: (hint: StoreHint) => void): () => void {
    return this.#parts.hints.hear(listener);
  }

  async place(given: EntityManager | undefined): Promise<TestPlace> {
    const { em: own, environment, parts, partsIn } = this.#parts;
    if (given === undefined) {
      refuseAmbientTransaction(
        own,
        'drain()',
        'Pass the EntityManager of that transaction: `drain({ em, handlers })`.',
      );
      return placeOf(parts, environment);
    }

    const otherwise = 'To run jobs that are committed, leave `em` out.';
    const em = stagingTransaction(given, own, { operation: 'drain()', otherwise });
    await em.flush();

    return placeOf(
      partsIn(em),
      new TransactionEnvironment(em, transaction => new MikroOrmJobStore(partsIn(transaction))),
    );
  }

  async staged(
    given: EntityManager,
    definition: { readonly name: string; readonly version: string } | null,
  ): Promise<StagedText[]> {
    const { read, tables } = this.#sessionOf(given);

    return (await read(stagedJobs(tables, definition))).map(row => ({
      job: toSnapshot(row),
      payload: row.payload as string,
    }));
  }

  #sessionOf(given: EntityManager) {
    const { em: own, parts, partsIn } = this.#parts;
    const isInTransaction = typeof given?.getContext !== 'function' || hasOpenTransaction(given.getContext(false));
    if (isInTransaction) {
      return partsIn(stagingTransaction(given, own, { operation: 'staged()', otherwise: '' })).session;
    }

    refuseAmbientTransaction(own, 'staged()', 'Pass the EntityManager of that transaction.');
    return parts.session;
  }
}

function placeOf(parts: StoreParts, environment: ExecutorEnvironment<unknown>): TestPlace {
  return {
    store: () => new MikroOrmJobStore(parts),
    recurring: new MikroOrmRecurringStore(parts),
    idempotency: new MikroOrmIdempotencyStore(parts),
    environment,
  };
}
