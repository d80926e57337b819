import { durationMs, type Duration } from '../core/duration.ts';
import { InvalidOptionError } from '../core/errors.ts';
import { checkKnown } from '../core/known-options.ts';
import { checkedInteger } from '../core/option-checks.ts';
import { resolveRetryPolicy, type ResolvedRetryPolicy, type RetryPolicy } from '../core/retry-policy.ts';

export interface UnitOfWorkOptions {
  /**
   * How long a delivery holds its message without a renewal. Renewed every third of it while work runs; not on SQLite,
   * whose one connection is work's: there it must be longer than the longest work. @default '60s'
   */
  readonly lease?: Duration;
  /** Failures of one message that are followed by another try; the next one dead-letters it. @default 10 */
  readonly maxFailures?: number;
  /** The delays between the tries of one message. @default exponential: 2 s, factor 2, at most 10 min, jitter 0.2 */
  readonly retry?: Omit<RetryPolicy, 'lifetime'>;
  /**
   * How long `consume` waits for a message that another delivery holds, or that isn't due yet, before it answers `busy`; so
   * a broker that redelivers at once doesn't spin. @default '5s'
   */
  readonly busyWait?: Duration;
  /** How often it looks meanwhile. @default '1s' */
  readonly busyCheckEvery?: Duration;
}

export interface ResolvedUnitOfWorkOptions {
  readonly leaseMs: number;
  readonly maxFailures: number;
  readonly retry: ResolvedRetryPolicy;
  readonly busyWaitMs: number;
  readonly busyCheckEveryMs: number;
}

const knownOptions: ReadonlyArray<keyof UnitOfWorkOptions> = [
  'lease', 'maxFailures', 'retry', 'busyWait', 'busyCheckEvery',
]; // prettier-ignore

/** @throws InvalidOptionError */
export function resolveUnitOfWorkOptions(options: UnitOfWorkOptions = {}): ResolvedUnitOfWorkOptions {
  checkKnown(options, knownOptions, 'unitOfWork.');
  const { lease = '60s', maxFailures = 10, retry = {}, busyWait = '5s', busyCheckEvery = '1s' } = options;

  return Object.freeze({
    leaseMs: atLeast(1000, 'lease', lease),
    maxFailures: checkedInteger('maxFailures', maxFailures, 0, 1_000_000),
    retry: checkedRetry(retry),
    busyWaitMs: durationMs(busyWait, 'busyWait'),
    busyCheckEveryMs: atLeast(1, 'busyCheckEvery', busyCheckEvery),
  });
}

function atLeast(min: number, option: string, duration: Duration): number {
  const ms = durationMs(duration, option);
  // setTimeout takes a longer time for none at all.
  if (ms < min || ms > 2_147_483_647) {
    throw new InvalidOptionError(option, `be from ${min} ms to 24 days`, duration);
  }

  return ms;
}

function checkedRetry(retry: RetryPolicy | false): ResolvedRetryPolicy {
  if (typeof retry === 'object' && retry !== null && 'lifetime' in retry) {
    throw new InvalidOptionError('retry.lifetime', 'be left out: a message has no lifetime', retry.lifetime);
  }
  const resolved = resolveRetryPolicy(retry);
  if (resolved === false) {
    throw new InvalidOptionError('retry', 'be a policy; `maxFailures: 0` never tries again', retry);
  }

  return resolved;
}
