import { durationMs, type Duration } from './duration.ts';
import { InvalidOptionError, isJobsError } from './errors.ts';
import type { KeyInProgressError, RetryAfterError, SnoozeError } from './handler-errors.ts';
import { microsOf, microsOfMs, type Micros } from './time.ts';
import { withCauses } from './with-causes.ts';

/** What a handler's error asks for. */
export type ErrorClass =
  | { readonly kind: 'transient' }
  | { readonly kind: 'permanent' }
  | { readonly kind: 'result_invalid' }
  | { readonly kind: 'throttled'; readonly at: Micros }
  | { readonly kind: 'snoozed'; readonly at: Micros };

/**
 * Looks for an error of ours in what was thrown, its causes, and the errors of an AggregateError; the outermost one decides.
 * Anything may be thrown, and nothing here throws. Programmer's errors (TypeError and the like) count as transient: a bad
 * deployment that is repaired within the retry time then loses nothing.
 */
export function classify(error: unknown, now: Micros): ErrorClass {
  for (const candidate of withCauses(error)) {
    const found = classOf(candidate, now);
    if (found !== null) {
      return found;
    }
  }

  return { kind: 'transient' };
}

function classOf(error: unknown, now: Micros): ErrorClass | null {
  try {
    if (!isJobsError(error)) {
      return null;
    }
    switch (error.code) {
      case 'PERMANENT':
        return { kind: 'permanent' };
      case 'RESULT_INVALID':
        return { kind: 'result_invalid' };
      case 'RETRY_AFTER':
        return { kind: 'throttled', at: instantOf((error as RetryAfterError).after, now) };
      case 'SNOOZE':
      case 'KEY_IN_PROGRESS':
        return { kind: 'snoozed', at: instantOf((error as SnoozeError | KeyInProgressError).delay, now) };
      default:
        return null;
    }
  } catch {
    // A proxy whose traps throw is no error of ours, nor is one with a delay that isn't one.
    return null;
  }
}

function instantOf(delay: Duration | Date, now: Micros): Micros {
  const at = delay instanceof Date ? microsOf(delay) : now + microsOfMs(durationMs(delay, 'delay'));
  if (Number.isNaN(at)) {
    throw new InvalidOptionError('delay', 'be a valid Date', delay);
  }

  return Math.max(now, at);
}
