import { ConnectionTimeoutError } from '../core/errors.ts';

/** How long a call of ours waits for a connection, and what it is called when it gives up. */
export interface ConnectionLimit {
  readonly ms: number;
  readonly operation: string;
}

/**
 * Bounds the wait for a connection, not the work on it: what waits for another transaction's lock goes on. `start` calls
 * `begun` as soon as it has its connection; after the limit that throws, so that nothing is sent which nobody waits for.
 */
export function begunWithin<T>(
  { ms, operation }: ConnectionLimit,
  start: (begun: () => void) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let tooLate: ConnectionTimeoutError | null = null;
    const timer = setTimeout(() => {
      tooLate = new ConnectionTimeoutError(operation);
      reject(tooLate);
    }, ms);

    const begun = () => {
      clearTimeout(timer);
      if (tooLate !== null) {
        throw tooLate;
      }
    };
    start(begun)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
