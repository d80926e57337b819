import { hostname } from 'node:os';
import { durationMs, type Duration } from './duration.ts';
import { InvalidOptionError } from './errors.ts';
import { checkKnown } from './known-options.ts';
import { checkedInteger, checkedText } from './option-checks.ts';
import { resolveRetention, type ResolvedRetention, type Retention } from './retention.ts';
import type { StoreCapabilities } from './store.ts';

/** How an executor works. Every option has a default. */
export interface ExecutorOptions {
  /** How many handlers run at once, 1 to 10,000. Each may use a connection; the executor itself uses two more. @default 10 */
  readonly concurrency?: number;
  /** The queues that it serves. @default all */
  readonly queues?: readonly string[];
  /**
   * How long it waits before it looks again when nothing told it of work; at least 10 ms. Due times that it knows, and jobs
   * committed in this process, don't wait for it. @default '5s', or '1s' when the store doesn't tell of commits
   */
  readonly pollInterval?: Duration;
  /** How often changed progress is written, for all running handlers in one statement; at least 10 ms. @default '1s' */
  readonly progressInterval?: Duration;
  /**
   * How often its lease is renewed and the cancel marks of its running jobs are read: so long may a cancel that another process
   * asked for take to reach the handler. Must be at least `progressInterval`. @default '15s'
   */
  readonly renewEvery?: Duration;
  /** How often it looks after what any executor may do for all of them, such as jobs that wait for others. @default '30s' */
  readonly maintenanceInterval?: Duration;
  /**
   * How long finished jobs are kept; `false`: all of them for ever. It deletes for all executors, so where theirs differ the
   * shortest one holds. @default succeeded and cancelled ones 30 days, failed and interrupted ones for ever
   */
  readonly retention?: Retention | false;
  /** How long `stop()` waits for handlers before it aborts their signals. @default '30s' */
  readonly drainTimeout?: Duration;
  /** How long `stop()` then waits for them before it gives their jobs up; late results are refused. @default '5s' */
  readonly abortGrace?: Duration;
  /** For people: which executor this is. 1 to 255 characters. @default the host's name */
  readonly name?: string;
  /**
   * How long it holds its jobs without renewing. When its process dies, another executor recovers them after that time. Must
   * exceed `renewEvery` and `clockSkew` with a tenth of itself to spare, and, on SQLite, the longest transaction of the host.
   *
   * `false`: without a lease, for one process at a time on a database. What a killed process left running is then recovered when
   * the next one starts, at once. @default '60s'
   */
  readonly lease?: Duration | false;
  /** How far the clocks of the executors' machines may be apart: so much early it takes its own lease for lost. @default '5s' */
  readonly clockSkew?: Duration;
}

/** The same with defaults, in milliseconds. */
export interface ResolvedExecutorOptions {
  readonly concurrency: number;
  /** Null: all. */
  readonly queues: readonly string[] | null;
  readonly pollIntervalMs: number;
  readonly progressIntervalMs: number;
  readonly renewEveryMs: number;
  readonly maintenanceIntervalMs: number;
  readonly retention: ResolvedRetention;
  readonly drainTimeoutMs: number;
  readonly abortGraceMs: number;
  readonly name: string;
  /** Null: without a lease. */
  readonly leaseMs: number | null;
  readonly clockSkewMs: number;
}

/**
 * Defaults, checks, relations between options; frozen.
 *
 * @throws InvalidOptionError naming the option, its rule and the value
 */
export function resolveExecutorOptions(
  options: ExecutorOptions,
  capabilities: StoreCapabilities,
): ResolvedExecutorOptions {
  checkKnown(options, knownExecutorOptions);
  const resolved: ResolvedExecutorOptions = {
    concurrency: checkedInteger('concurrency', options.concurrency ?? 10, 1, 10_000),
    queues: options.queues === undefined ? null : checkedQueues(options.queues),
    pollIntervalMs: intervalMs('pollInterval', options.pollInterval ?? defaultPollInterval[capabilities.wakeUp]),
    progressIntervalMs: intervalMs('progressInterval', options.progressInterval ?? '1s'),
    renewEveryMs: intervalMs('renewEvery', options.renewEvery ?? '15s'),
    maintenanceIntervalMs: intervalMs('maintenanceInterval', options.maintenanceInterval ?? '30s'),
    retention: resolveRetention(options.retention),
    drainTimeoutMs: durationMs(options.drainTimeout ?? '30s', 'drainTimeout'),
    abortGraceMs: durationMs(options.abortGrace ?? '5s', 'abortGrace'),
    name: checkedText('name', options.name ?? hostname()),
    leaseMs: options.lease === false ? null : durationMs(options.lease ?? '60s', 'lease'),
    clockSkewMs: durationMs(options.clockSkew ?? '5s', 'clockSkew'),
  };

  if (resolved.renewEveryMs < resolved.progressIntervalMs) {
    const rule = `be at least \`progressInterval\` (${resolved.progressIntervalMs} ms)`;
    throw new InvalidOptionError('renewEvery', rule, resolved.renewEveryMs);
  }

  checkLease(resolved);

  return Object.freeze(resolved);
}

const defaultPollInterval = { none: '1s', local: '5s', everywhere: '5s' } as const;
export const knownExecutorOptions: ReadonlyArray<keyof ExecutorOptions> = [
  'concurrency', 'queues', 'pollInterval', 'progressInterval', 'renewEvery', 'maintenanceInterval', 'retention', 'drainTimeout', 'abortGrace', 'name', 'lease', 'clockSkew',
]; // prettier-ignore

function checkedQueues(queues: readonly string[]): readonly string[] {
  if (!Array.isArray(queues) || queues.length === 0) {
    throw new InvalidOptionError('queues', 'name at least one queue, or be left out for all of them', queues);
  }

  return Object.freeze([...new Set(queues.map((queue: string) => checkedText('queues', queue)))]);
}

/** Below 10 ms a loop is a burden on the database, not a faster executor. */
function intervalMs(option: string, interval: Duration): number {
  const ms = durationMs(interval, option);
  if (ms < 10) {
    throw new InvalidOptionError(option, 'be at least 10 ms', interval);
  }

  return ms;
}

/** A tenth of the lease is left for the renewal itself, which may have to be tried again. */
function checkLease({ leaseMs, renewEveryMs, clockSkewMs }: ResolvedExecutorOptions): void {
  if (leaseMs !== null && leaseMs * 0.9 <= renewEveryMs + clockSkewMs) {
    const rule = `exceed \`renewEvery\` (${renewEveryMs} ms) and \`clockSkew\` (${clockSkewMs} ms) with a tenth of itself to spare`;
    throw new InvalidOptionError('lease', rule, leaseMs);
  }
}
