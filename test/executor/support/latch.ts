/** A promise that the test opens. */
export interface Latch<T = void> {
  readonly opened: Promise<T>;
  open(value: T): void;
}

export function latch<T = void>(): Latch<T> {
  let open!: (value: T) => void;
  const opened = new Promise<T>(resolve => (open = resolve));

  return { opened, open };
}

/** Lets so many turns of the event loop pass: enough for everything that needn't wait to have happened. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await new Promise(resolve => setImmediate(resolve));
  }
}

/** Rejects with the signal's reason when it fires. */
export async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) {
    await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  throw signal.reason;
}
