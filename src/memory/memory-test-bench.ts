import type { ExecutorEnvironment } from '../core/executor-environment.ts';
import type { Logger } from '../core/logger.ts';
import type { SettableClock } from '../core/settable-clock.ts';
import type { StoreHint } from '../core/store.ts';
import type { StagedText, TestBench, TestPlace } from '../core/test-bench.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { MemoryStores } from './memory-stores.ts';
import { snapshotOf } from './snapshots.ts';

/** Lets the testing kit work on jobs in memory, where there are no transactions. */
export class MemoryTestBench implements TestBench<undefined> {
  readonly clock: SettableClock;
  readonly logger: Logger;
  readonly #database: MemoryDatabase;
  readonly #place: TestPlace;

  constructor(
    database: MemoryDatabase,
    stores: MemoryStores,
    environment: ExecutorEnvironment<unknown>,
    clock: SettableClock,
    logger: Logger,
  ) {
    this.clock = clock;
    this.logger = logger;
    this.#database = database;
    this.#place = {
      store: () => stores.jobs,
      recurring: stores.recurring,
      idempotency: stores.idempotency,
      environment,
    };
  }

  hear(listener: (hint: StoreHint) => void): () => unknown {
    return this.#database.hints.subscribe(listener);
  }

  async place(): Promise<TestPlace> {
    return this.#place;
  }

  async staged(
    _: undefined,
    definition: { readonly name: string; readonly version: string } | null,
  ): Promise<StagedText[]> {
    return this.#database.jobs
      .all()
      .filter(
        ({ name, version }) => definition === null || (name === definition.name && version === definition.version),
      )
      .sort((a, b) => a.createdAt - b.createdAt)
      .map(job => ({ job: snapshotOf(job), payload: job.payload }));
  }
}
