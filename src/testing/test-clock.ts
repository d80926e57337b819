import { durationMs, type Duration } from '../core/duration.ts';
import { InvalidOptionError } from '../core/errors.ts';
import type { SettableClock } from '../core/settable-clock.ts';
import { dateOf, earliestInstant, latestInstant, microsOf, microsOfMs, type Micros } from '../core/time.ts';

/** The time of one `Jobs`: it stands still until it is told to go on. */
export class TestClock {
  readonly #clock: SettableClock;

  constructor(clock: SettableClock) {
    this.#clock = clock;
  }

  /** What these jobs take for now. */
  get now(): Date {
    return dateOf(this.#clock.now());
  }

  /** Goes on by so much. @throws InvalidOptionError */
  advance(by: Duration): void {
    this.#set('by', this.#clock.now() + microsOfMs(durationMs(by, 'by')), by);
  }

  /** Goes to an instant, from 1970 to 2255, be it an earlier one. @throws InvalidOptionError */
  set(to: Date): void {
    this.#set('to', to instanceof Date ? microsOf(to) : NaN, to);
  }

  /** Gives these jobs back the clock that they were made with. `testJobs`, `set` and `advance` stop it again. */
  restore(): void {
    this.#clock.restore();
  }

  #set(option: string, now: Micros, given: unknown): void {
    if (!(now >= earliestInstant && now <= latestInstant)) {
      throw new InvalidOptionError(option, 'lead to a valid Date from 1970 to 2255', given);
    }

    this.#clock.set(now);
  }
}
