import { durationMs, type Duration } from './duration.ts';
import { InvalidOptionError } from './errors.ts';
import { checkKnown } from './known-options.ts';

/** When a failed job is tried again. Every field has a default. */
export interface RetryPolicy {
  /** The delay after the first failure. @default '2s' */
  readonly base?: Duration;
  /** What each further failure multiplies the delay by; at least 1. @default 2 */
  readonly factor?: number;
  /** No delay is longer. @default '10m' */
  readonly cap?: Duration;
  /** The share of a delay that chance may take away or add, 0 to 1; the cap holds nevertheless. @default 0.2 */
  readonly jitter?: number;
  /** No retry is scheduled later than this after the job was first due. @default no limit but `maxAttempts` */
  readonly lifetime?: Duration;
}

/** A policy with plain numbers, as it is stored. */
export interface ResolvedRetryPolicy {
  readonly baseMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly jitter: number;
  readonly lifetimeMs: number | null;
}

const knownOptions: ReadonlyArray<keyof RetryPolicy> = ['base', 'factor', 'cap', 'jitter', 'lifetime'];

/** `false` means: never retry. */
export function resolveRetryPolicy(policy: RetryPolicy | false = {}): ResolvedRetryPolicy | false {
  if (policy === false) {
    return false;
  }
  checkKnown(policy, knownOptions, 'retry.');

  const { base = '2s', factor = 2, cap = '10m', jitter = 0.2, lifetime } = policy;
  const resolved: ResolvedRetryPolicy = {
    baseMs: durationMs(base, 'retry.base'),
    factor,
    capMs: durationMs(cap, 'retry.cap'),
    jitter,
    lifetimeMs: lifetime === undefined ? null : durationMs(lifetime, 'retry.lifetime'),
  };
  check(resolved);

  return Object.freeze(resolved);
}

/**
 * The delay before the next start, in ms, after so many recorded failures. Finite, never above the cap, and without jitter
 * never shorter than the one before, for any number of failures.
 *
 * @param random a number from 0 (inclusive) to 1, such as `Math.random()` gives
 */
export function retryDelayMs(policy: ResolvedRetryPolicy, failures: number, random: number): number {
  // Infinity after a thousand failures is fine, the cap is a number; Infinity times a base of 0 would be none.
  const growth = Math.min(policy.factor ** Math.max(0, failures - 1), Number.MAX_VALUE);
  const exponential = Math.min(policy.baseMs * growth, policy.capMs);
  const spread = exponential * policy.jitter * (2 * random - 1);

  return Math.round(Math.min(exponential + spread, policy.capMs));
}

function check({ factor, jitter, baseMs, capMs }: ResolvedRetryPolicy): void {
  if (!Number.isFinite(factor) || factor < 1) {
    throw new InvalidOptionError('retry.factor', 'be a number of at least 1', factor);
  }
  if (!Number.isFinite(jitter) || jitter < 0 || jitter > 1) {
    throw new InvalidOptionError('retry.jitter', 'be a number from 0 to 1', jitter);
  }
  if (capMs < baseMs) {
    throw new InvalidOptionError('retry.cap', `be at least the base (${baseMs} ms)`, capMs);
  }
}
