import type { Clock } from '../../src/core/clock.ts';
import type { Micros } from '../../src/core/time.ts';

interface Waiting {
  readonly until: Micros;
  readonly resolve: () => void;
}

/** A clock and its timers, which only move by hand. */
export class ManualTime implements Clock {
  #now: Micros = Date.UTC(2026, 0, 1) * 1000;
  readonly #waiting = new Set<Waiting>();
  readonly #watchers = new Set<() => void>();

  now(): Micros {
    return this.#now;
  }

  /** How long the open timers have to go, in ms, the shortest first. */
  get timers(): number[] {
    return [...this.#waiting].map(({ until }) => (until - this.#now) / 1000).sort((a, b) => a - b);
  }

  readonly delay = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const waiting: Waiting = { until: this.#now + ms * 1000, resolve: () => end(resolve) };
      const abort = () => end(() => reject(signal.reason as Error));
      const end = (settle: () => void) => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', abort);
        settle();
      };

      if (signal.aborted) return reject(signal.reason as Error);
      signal.addEventListener('abort', abort);
      this.#waiting.add(waiting);
      this.#watchers.forEach(watcher => watcher());
    });

  /** Moves the clock and rings what is due. */
  advance(ms: number): void {
    this.#now += ms * 1000;
    [...this.#waiting].filter(({ until }) => until <= this.#now).forEach(({ resolve }) => resolve());
  }

  /** Resolves when a timer is open that has so many ms to go. */
  async untilTimer(ms: number): Promise<void> {
    while (!this.timers.includes(ms)) {
      await new Promise<void>(resolve => {
        const watcher = () => {
          this.#watchers.delete(watcher);
          resolve();
        };
        this.#watchers.add(watcher);
      });
    }
  }
}
