import type { Clock } from '../core/clock.ts';
import { dateOf, microsOf, microsOfMs, type Micros } from '../core/time.ts';

/** A clock that stands still until it is told to go on. Every store of a harness reads the time from one. */
export class ManualClock implements Clock {
  #now: Micros;

  /** @param start @default 2030-01-01T00:00:00Z */
  constructor(start = new Date('2030-01-01T00:00:00Z')) {
    this.#now = microsOf(start);
  }

  now(): Micros {
    return this.#now;
  }

  /** The same instant as a `Date`. */
  date(): Date {
    return dateOf(this.#now);
  }

  /** Goes on by so many milliseconds. */
  advance(ms: number): void {
    this.#now += microsOfMs(ms);
  }

  /** Goes to an instant, in microseconds. */
  set(now: Micros): void {
    this.#now = now;
  }
}
