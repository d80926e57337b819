import type { Clock } from './clock.ts';
import type { Micros } from './time.ts';

/** The given clock, until the testing kit makes it stand still at an instant. */
export class SettableClock implements Clock {
  readonly #clock: Clock;
  #stoppedAt: Micros | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isStopped(): boolean {
    return this.#stoppedAt !== null;
  }

  now(): Micros {
    return this.#stoppedAt ?? this.#clock.now();
  }

  /** Stands still there. */
  set(now: Micros): void {
    this.#stoppedAt = now;
  }

  /** Is the given clock again. */
  restore(): void {
    this.#stoppedAt = null;
  }
}
