import { classify } from '../core/classification.ts';
import { retryDelayMs } from '../core/retry-policy.ts';
import { latestInstant, microsOfMs, type Micros } from '../core/time.ts';
import type { ResolvedUnitOfWorkOptions } from './options.ts';

/** What a failure of work means for its message. */
export type Verdict =
  { readonly kind: 'failed' | 'snoozed'; readonly nextAttemptAt: Micros } | { readonly kind: 'dead_lettered' };

const hourInMs = 3_600_000;

/** Pure; the inbox only applies it. @param random from 0 (inclusive) to 1 */
export function verdictFor(
  error: unknown,
  failuresBefore: number,
  { maxFailures, retry }: Pick<ResolvedUnitOfWorkOptions, 'maxFailures' | 'retry'>,
  now: Micros,
  random: number,
): Verdict {
  const asked = classify(error, now);
  const failures = failuresBefore + 1;

  if (asked.kind === 'snoozed') {
    return { kind: 'snoozed', nextAttemptAt: Math.min(asked.at, latestInstant) };
  }
  if (asked.kind === 'permanent' || failures > maxFailures) {
    return { kind: 'dead_lettered' };
  }

  const longest = now + microsOfMs(Math.max(retry.capMs, hourInMs));
  const nextAttemptAt =
    asked.kind === 'throttled' ? Math.min(asked.at, longest) : now + microsOfMs(retryDelayMs(retry, failures, random));

  return { kind: 'failed', nextAttemptAt };
}
