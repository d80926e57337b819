import type { ExecutorEnvironment } from '../core/executor-environment.ts';
import type { JobStore } from '../core/store.ts';

/** Handlers without a database: they get no EntityManager, and no transaction to roll back. */
export class MemoryEnvironment implements ExecutorEnvironment<undefined> {
  readonly #store: Pick<JobStore, 'settle'>;

  constructor(store: Pick<JobStore, 'settle'>) {
    this.#store = store;
  }

  async check(): Promise<{ readonly connections: null }> {
    return { connections: null };
  }

  /** There is none. */
  refuseTransaction(): void {}

  run<T>(work: (em: undefined) => Promise<T>): Promise<T> {
    return work(undefined);
  }

  /** Nothing that `work` did is undone when it, or the settlement after it, fails. */
  async transactional<T>(
    em: undefined,
    work: (em: undefined) => Promise<T>,
    settle: (store: Pick<JobStore, 'settle'>, result: T) => Promise<void>,
  ): Promise<T> {
    const result = await work(em);
    await settle(this.#store, result);

    return result;
  }
}
