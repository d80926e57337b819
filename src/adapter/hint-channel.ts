import type { DueLane } from '../core/due-lane.ts';
import { consoleLogger, type Logger } from '../core/logger.ts';
import type { StoreHint } from '../core/store.ts';

/** Where hints go beside the executors of this process, and come from. */
export interface RemoteHints {
  send(hint: StoreHint): void;
  listen(): void;
  stop(): Promise<void>;
}

export function dueHint(lanes: readonly DueLane[] | undefined): StoreHint {
  return lanes === undefined ? { kind: 'due' } : { kind: 'due', lanes };
}

/** What a store needs of it. */
export type Hints = Pick<HintChannel, 'reach' | 'subscribe' | 'send'>;

/** Hints from whoever commits to the executors that want to know: those of this process, and where there is a way, the others. */
export class HintChannel {
  readonly #listeners = new Set<(hint: StoreHint) => void>();
  readonly #logger: Logger;
  #remote: RemoteHints | null = null;

  constructor(logger: Logger = consoleLogger) {
    this.#logger = logger;
  }

  /** Whom it reaches. */
  get reach(): 'local' | 'everywhere' {
    return this.#remote === null ? 'local' : 'everywhere';
  }

  connect(remote: RemoteHints): void {
    this.#remote = remote;
  }

  /** Listens to other processes from the first subscriber to the last. */
  subscribe(listener: (hint: StoreHint) => void): () => Promise<void> {
    this.#listeners.add(listener);
    this.#remote?.listen();

    return async () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) {
        await this.#remote?.stop();
      }
    };
  }

  /** Never throws: it is called where the host's transaction has just committed, and can't fail any more. */
  send(hint: StoreHint): void {
    this.deliver(hint);
    this.#remote?.send(hint);
  }

  /** To the executors of this process alone. */
  deliver(hint: StoreHint): void {
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
