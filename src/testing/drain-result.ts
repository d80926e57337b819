import type { JobKey } from '../core/job-key.ts';
import type { Micros } from '../core/time.ts';

/** Why an attempt failed, be it for good or to be tried again. */
export interface DrainError extends JobKey {
  readonly name: string;
  /** Which start of the job it was; the first is 1. */
  readonly attempt: number;
  /** What the handler threw. */
  readonly error: unknown;
}

/**
 * How the attempts of a drain ended. What there was none of, beside `succeeded` and `failed`, can be read and isn't enumerable, so that a
 * plain run equals `{ succeeded: 2, failed: 0 }` and anything unusual shows up beside it with its errors.
 */
export interface DrainResult {
  readonly succeeded: number;
  /** For good: no start or no time was left, or there is none to be had. */
  readonly failed: number;
  /** Failed, and to be tried again later. */
  readonly rescheduled: number;
  readonly snoozed: number;
  readonly cancelled: number;
  /** Ended after somebody else had ended the attempt; nothing was written. */
  readonly lost: number;
  /** Of what failed or was rescheduled, in the order in which it ran. */
  readonly errors: readonly DrainError[];
  /** When the next job of these handlers is due; null: none is queued. Never enumerable. */
  readonly nextDueAt: Date | null;
}

export type Ending = 'succeeded' | 'failed' | 'rescheduled' | 'snoozed' | 'cancelled' | 'lost';

export function drainResult(
  endings: readonly Ending[],
  errors: readonly DrainError[],
  nextDueAt: Micros | null,
): DrainResult {
  const count = (ending: Ending) => endings.filter(each => each === ending).length;
  const unusual = (ending: Ending) => ({ value: count(ending), enumerable: count(ending) > 0 });

  return Object.freeze(
    Object.defineProperties({ succeeded: count('succeeded'), failed: count('failed') } as DrainResult, {
      rescheduled: unusual('rescheduled'),
      snoozed: unusual('snoozed'),
      cancelled: unusual('cancelled'),
      lost: unusual('lost'),
      errors: { value: Object.freeze([...errors]), enumerable: errors.length > 0 },
      // Set to it, a clock has reached it.
      nextDueAt: { value: nextDueAt === null ? null : new Date(Math.ceil(nextDueAt / 1000)) },
    }),
  );
}
