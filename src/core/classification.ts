import { durationMs, type Duration } from './duration.ts';
import { isJobsError } from './errors.ts';
import type { RetryAfterError, SnoozeError } from './handler-errors.ts';
import { microsOf, microsOfMs, type Micros } from './time.ts';

/** What a handler's error asks for. */
export type ErrorClass =
  | { readonly kind: 'transient' }
  | { readonly kind: 'permanent' }
  | { readonly kind: 'throttled'; readonly at: Micros }
  | { readonly kind: 'snoozed'; readonly at: Micros };

const transient: ErrorClass = { kind: 'transient' };
const maxDepth = 20;

/**
 * Looks for an error of ours in what was thrown, its causes, and the errors of an AggregateError; the outermost one decides.
 * Anything may be thrown, and nothing here throws. Programmer's errors (TypeError and the like) count as transient: a bad
 * deployment that is repaired within the retry time then loses nothing.
 */
export function classify(error: unknown, now: Micros): ErrorClass {
  let level: unknown[] = [error];
  const seen = new Set<unknown>();

  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const found = level.map(candidate => classOf(candidate, now)).find(entry => entry !== null);
    if (found !== undefined) {
      return found;
    }
    level.forEach(entry => seen.add(entry));
    level = level.flatMap(inner).filter(entry => !seen.has(entry));
  }

  return transient;
}

function classOf(error: unknown, now: Micros): ErrorClass | null {
  try {
    if (!isJobsError(error)) {
      return null;
    }
    switch (error.code) {
      case 'PERMANENT':
        return { kind: 'permanent' };
      case 'RETRY_AFTER':
        return { kind: 'throttled', at: instantOf((error as RetryAfterError).after, now) };
      case 'SNOOZE':
        return { kind: 'snoozed', at: instantOf((error as SnoozeError).delay, now) };
      default:
        return null;
    }
  } catch {
    // A proxy whose traps throw is no error of ours.
    return null;
  }
}

function instantOf(delay: Duration | Date, now: Micros): Micros {
  return Math.max(now, delay instanceof Date ? microsOf(delay) : now + microsOfMs(durationMs(delay, 'delay')));
}

function inner(error: unknown): unknown[] {
  if (typeof error !== 'object' || error === null) {
    return [];
  }

  try {
    const { cause, errors } = error as { cause?: unknown; errors?: unknown };
    return [cause, ...(Array.isArray(errors) ? (errors as unknown[]).slice(0, 100) : [])];
  } catch {
    return [];
  }
}
