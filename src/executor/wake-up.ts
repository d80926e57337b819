import { sleep } from './sleep.ts';

/** Something to sleep on until somebody notifies. A notification that comes before the sleep is kept, and ends it at once. */
export class WakeUp {
  #isPending = false;
  #wake: (() => void) | null = null;

  /** Only sets a flag and resolves the sleeper's promise: what follows runs in the sleeper's async context, not in the caller's. */
  notify(): void {
    this.#isPending = true;
    this.#wake?.();
  }

  /** Whether there was a notification since the last clearing. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Forgets what was notified so far. Whoever is about to look calls it first, so that nothing is missed in between. */
  clear(): void {
    this.#isPending = false;
  }

  /** Resolves when notified, when the signal is aborted, or after so many ms (null: no limit). One sleeper at a time. */
  async wait(ms: number | null, signal: AbortSignal): Promise<void> {
    if (!this.#isPending) {
      await sleep(ms, signal, wake => (this.#wake = wake));
      this.#wake = null;
    }
  }
}
