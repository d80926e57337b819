import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionTimeoutError } from './errors.ts';

/** How long a call of ours waits for a connection, and what it is called when it gives up. */
export interface ConnectionLimit {
  readonly ms: number;
  readonly operation: string;
  /** Resolves after so many ms, rejects when the signal is aborted before. @default a timer of Node */
  readonly delay?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Bounds the wait for a connection, not the work on it: what waits for another transaction's lock goes on. Beside a bare `begin()`
 * on the only connection, which nobody but that fork can see, it would wait for ever. `start` calls `begun` as soon as it has its
 * connection; after the limit that throws, so that nothing is sent which nobody waits for.
 *
 * @throws ConnectionTimeoutError
 */
export function begunWithin<T>(
  { ms, operation, delay = timer }: ConnectionLimit,
  start: (begun: () => void) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const waiting = new AbortController();
    let tooLate: ConnectionTimeoutError | null = null;
    const begun = () => {
      waiting.abort();
      if (tooLate !== null) {
        throw tooLate;
      }
    };
    const giveUp = () => {
      if (!waiting.signal.aborted) {
        tooLate = new ConnectionTimeoutError(operation);
        reject(tooLate);
      }
    };

    delay(ms, waiting.signal).then(giveUp, () => {});
    start(begun)
      .then(resolve, reject)
      .finally(() => waiting.abort());
  });
}

function timer(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal });
}
