import type { StoreHint } from '../core/store.ts';

/** Hints from whoever writes to the executors that listen. */
export class LocalHints {
  readonly #listeners = new Set<(hint: StoreHint) => void>();

  subscribe(listener: (hint: StoreHint) => void): () => Promise<void> {
    this.#listeners.add(listener);

    return async () => {
      this.#listeners.delete(listener);
    };
  }

  send(hint: StoreHint): void {
    for (const listener of this.#listeners) {
      listener(hint);
    }
  }
}
