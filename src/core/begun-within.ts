import { ConnectionTimeoutError } from './errors.ts';

/** How long a call of ours waits for a connection, and what it is called when it gives up. */
export interface ConnectionLimit {
  readonly ms: number;
  readonly operation: string;
  /** Calls `ring` after so many ms, unless what it answers is called before. @default a timer of Node */
  readonly ringAfter?: (ms: number, ring: () => void) => () => void;
}

/**
 * Bounds the wait for a connection, not the work on it: what waits for another transaction's lock goes on. Beside a bare `begin()`
 * on the only connection, which nobody but that fork can see, it would wait for ever. `start` calls `begun` as soon as it has its
 * connection; after the limit that throws, so that nothing is sent which nobody waits for.
 *
 * @throws ConnectionTimeoutError
 */
export function begunWithin<T>(
  { ms, operation, ringAfter = timer }: ConnectionLimit,
  start: (begun: () => void) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    let tooLate: ConnectionTimeoutError | null = null;
    const cancel = ringAfter(ms, () => {
      if (!hasBegun) {
        tooLate = new ConnectionTimeoutError(operation);
        reject(tooLate);
      }
    });

    const begun = () => {
      hasBegun = true;
      cancel();
      if (tooLate !== null) {
        throw tooLate;
      }
    };
    start(begun).then(resolve, reject).finally(cancel);
  });
}

function timer(ms: number, ring: () => void): () => void {
  const timeout = setTimeout(ring, ms);
  return () => clearTimeout(timeout);
}
