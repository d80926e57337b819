import { ConnectionTimeoutError } from '../core/errors.ts';
import type { UnitOfWorkDependencies } from './dependencies.ts';

/**
 * Runs what has to wait for a connection first, and gives up when it hasn't begun in time: beside a bare `begin()` on the
 * only connection, which nobody but that fork can see, it would wait for ever. What begins later is told to end at once, by
 * `begun`, which throws then.
 *
 * @throws ConnectionTimeoutError
 */
export async function beginInTime<T>(
  operation: string,
  { connectionTimeoutMs = 30_000, delay }: Pick<UnitOfWorkDependencies<never>, 'connectionTimeoutMs' | 'delay'>,
  run: (begun: () => void) => Promise<T>,
): Promise<T> {
  const waiting = new AbortController();
  let timeout: ConnectionTimeoutError | undefined;

  const running = run(() => {
    waiting.abort();
    if (timeout !== undefined) throw timeout;
  });
  const tooLate = delay(connectionTimeoutMs, waiting.signal).then(
    () => {
      throw (timeout = new ConnectionTimeoutError(operation));
    },
    () => running,
  );

  try {
    return await Promise.race([running, tooLate]);
  } finally {
    waiting.abort();
  }
}
