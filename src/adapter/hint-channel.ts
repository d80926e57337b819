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

type Listener = (hint: StoreHint) => void;

/** Hints from whoever commits to the executors that want to know: those of this process, and where there is a way, the others. */
export class HintChannel {
  readonly #own = new Set<Listener>();
  readonly #local: Set<Listener>;
  readonly #logger: Logger;
  #remote: RemoteHints | null = null;

  /** @param local the listeners of all channels that reach each other without a way to other processes */
  constructor(logger: Logger = consoleLogger, local: Set<Listener> = new Set()) {
    this.#logger = logger;
    this.#local = local;
  }

  /** Whom it reaches. */
  get reach(): 'local' | 'everywhere' {
    return this.#remote === null ? 'local' : 'everywhere';
  }

  connect(remote: RemoteHints): void {
    this.#remote = remote;
  }

  /** Listens to other processes from the first subscriber to the last. */
  subscribe(listener: Listener): () => Promise<void> {
    this.#own.add(listener);
    this.#local.add(listener);
    this.#remote?.listen();

    return async () => {
      this.#own.delete(listener);
      this.#local.delete(listener);
      if (this.#own.size === 0) {
        await this.#remote?.stop();
      }
    };
  }

  /** Hears of what this process commits, and of nothing else: opens no connection. @returns ends it */
  hear(listener: Listener): () => void {
    this.#local.add(listener);
    return () => void this.#local.delete(listener);
  }

  /** Never throws: it is called where the host's transaction has just committed, and can't fail any more. */
  send(hint: StoreHint): void {
    this.#tell(this.#local, hint);
    this.#remote?.send(hint);
  }

  /** What another process said, to the listeners of this channel: each channel hears it by itself. */
  deliver(hint: StoreHint): void {
    this.#tell(this.#own, hint);
  }

  #tell(listeners: ReadonlySet<Listener>, hint: StoreHint): void {
    for (const listener of listeners) {
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
