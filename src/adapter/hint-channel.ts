import { consoleLogger, type Logger } from '../core/logger.ts';
import type { StoreHint } from '../core/store.ts';

/** Hints from whoever commits in this process to the executors in it. */
export class HintChannel {
  readonly #listeners = new Set<(hint: StoreHint) => void>();
  readonly #logger: Logger;

  constructor(logger: Logger = consoleLogger) {
    this.#logger = logger;
  }

  subscribe(listener: (hint: StoreHint) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Never throws: it is called where the host's transaction has just committed, and can't fail any more. */
  send(hint: StoreHint): void {
    for (const listener of this.#listeners) {
      try {
        listener(hint);
      } catch (error) {
        this.#logger.error(
          { event: 'hint_listener_failed', error },
          'a listener of the store failed; the others are told',
        );
      }
    }
  }
}
