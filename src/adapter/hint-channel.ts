import type { JobKey } from '../core/job-key.ts';
import type { StoreHint } from '../core/store.ts';

/** Hints from whoever commits in this process to the executors in it. */
export class HintChannel {
  readonly #listeners = new Set<(hint: StoreHint) => void>();

  subscribe(listener: (hint: StoreHint) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Jobs were committed, and some of them wait for parents. */
  staged(awaiting: readonly JobKey[]): void {
    this.send({ kind: 'due' });
    if (awaiting.length > 0) {
      this.send({ kind: 'awaiting', keys: awaiting });
    }
  }

  send(hint: StoreHint): void {
    for (const listener of this.#listeners) {
      listener(hint);
    }
  }
}
