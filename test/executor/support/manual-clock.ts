import type { Clock } from '../../../src/core/clock.ts';
import type { Micros } from '../../../src/core/time.ts';

/** Stands still until a test moves it. */
export class ManualClock implements Clock {
  #now: Micros = Date.UTC(2026, 0, 1) * 1000;

  now(): Micros {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms * 1000;
  }
}
