/** Above this a timer of Node fires at once instead of late. */
export const longestTimerMs = 2_147_483_647;

/**
 * Resolves after so many ms (null: never), when the signal is aborted, or when what `onWake` was given is called. Timer and
 * listener are gone by then.
 */
export function sleep(ms: number | null, signal: AbortSignal, onWake?: (wake: () => void) => void): Promise<void> {
  if (signal.aborted) {
    return Promise.resolve();
  }

  return new Promise(resolve => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = ms === null ? undefined : setTimeout(wake, Math.min(ms, longestTimerMs));

    signal.addEventListener('abort', wake);
    onWake?.(wake);
  });
}

/** Whether the promise settled within so many ms. The timer is gone either way. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = new AbortController();
  const watched = promise.then(
    () => settled.abort(),
    () => settled.abort(),
  );

  await Promise.race([watched, sleep(ms, settled.signal)]);
  return settled.signal.aborted;
}
