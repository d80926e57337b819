import { InvalidOptionError } from './errors.ts';
import type { Micros } from './time.ts';

/** Where the library reads the time. Everything that compares instants asks it; the database's clock is never read. */
export interface Clock {
  /** The wall time now, in microseconds since the Unix epoch. */
  now(): Micros;
}

/** The wall time of this process, with the millisecond resolution that JavaScript has. */
export const systemClock: Clock = { now: () => Date.now() * 1000 };

/** @throws InvalidOptionError for something that the time can't be read from */
export function checkedClock(clock: Clock): Clock {
  if (typeof clock?.now !== 'function' || !Number.isSafeInteger(clock.now())) {
    throw new InvalidOptionError('clock', 'have a `now()` that answers whole microseconds since 1970', clock);
  }

  return clock;
}

const secondInMicros = 1_000_000;

/**
 * Creation times: the wall time made strictly increasing within this process, so that the order of creation is a column.
 * It never runs more than a second ahead: after the wall clock was set back, it follows.
 */
export class CreationClock implements Clock {
  readonly #clock: Clock;
  #last = -1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The wall time itself, for what is due. */
  now(): Micros {
    return this.#clock.now();
  }

  /** The time of one creation, later than the one before. */
  next(): Micros {
    const now = this.#clock.now();
    const isAhead = this.#last >= now && this.#last - now < secondInMicros;
    this.#last = isAhead ? this.#last + 1 : now;

    return this.#last;
  }
}
