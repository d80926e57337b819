import { lagOf, type QueueLag } from './admin.ts';
import type { Clock } from './clock.ts';
import { durationMs, type Duration } from './duration.ts';
import { InvalidOptionError, SchemaMissingError } from './errors.ts';
import { errorText } from './error-text.ts';
import { checkKnown } from './known-options.ts';
import type { ExecutorSnapshot, JobQueries } from './queries.ts';
import type { QueueStore } from './queues.ts';
import { microsOf } from './time.ts';
import { withCauses } from './with-causes.ts';

/** `degraded`: it works, and somebody should look. `down`: nothing works. */
export type HealthStatus = 'ok' | 'degraded' | 'down';

export interface HealthOptions {
  /**
   * How long the first due job of a queue may have waited before the queue is `degraded`: for all queues, or for those that are named.
   * A paused queue is never late. @default no queue is judged
   */
  readonly maxLag?: Duration | Readonly<Record<string, Duration>>;
  /** How long the database has for its answer. @default '5s' */
  readonly timeout?: Duration;
}

/** A plain object, for a health endpoint as it is. */
export interface Health {
  /** The worst of the checks. */
  readonly status: HealthStatus;
  readonly checks: {
    /** Whether the database answered, in time. */
    readonly storage: HealthCheck;
    /** Whether the tables are there. */
    readonly schema: HealthCheck;
    /** `degraded` while a lease is over and nobody has declared its executor dead yet. */
    readonly executors: HealthCheck & { readonly active: readonly ExecutorHealth[] };
    readonly queues: HealthCheck & { readonly behind: readonly QueueHealth[] };
  };
}

export interface HealthCheck {
  readonly status: HealthStatus;
  /** What is wrong; null: nothing. */
  readonly problem: string | null;
}

export interface ExecutorHealth extends Pick<ExecutorSnapshot, 'id' | 'name' | 'host' | 'concurrency' | 'running'> {
  /** How long its lease still holds, in ms; below 0, it is over. Null: without a lease. */
  readonly leaseLeftMs: number | null;
}

export interface QueueHealth extends QueueLag {
  /** As asked for; null: not judged. */
  readonly maxLagMs: number | null;
}

export interface HealthParts {
  readonly store: Pick<JobQueries, 'backlog' | 'executors'>;
  readonly queues: Pick<QueueStore, 'queueSettings'>;
  /** Rejects where the tables are missing. */
  readonly checkSchema: () => Promise<unknown>;
  readonly clock: Clock;
}

const defaultTimeout = '5s';
const fine: HealthCheck = Object.freeze({ status: 'ok', problem: null });

/** @throws InvalidOptionError, and nothing else: whatever the database does is an answer */
export async function healthOf(parts: HealthParts, options: HealthOptions = {}): Promise<Health> {
  const { maxLagMsOf, timeoutMs } = checkedOptions(options);

  try {
    const { executors, lag } = await within(timeoutMs, read(parts));
    return healthFrom(fine, fine, executorsCheck(executors, parts.clock), queuesCheck(lag, maxLagMsOf));
  } catch (error) {
    const isThere = error instanceof SchemaMissingError;
    // A driver's error begins with the whole statement; what is wrong is in its cause.
    const cause = isThere ? error : withCauses(error).at(-1);
    const down: HealthCheck = { status: 'down', problem: errorText(cause).split('\n')[0]! };
    const unknown: HealthCheck = { status: 'down', problem: 'not known' };

    return healthFrom(
      isThere ? fine : down,
      isThere ? down : unknown,
      { ...unknown, active: [] },
      { ...unknown, behind: [] },
    );
  }
}

async function read({ store, queues, checkSchema }: HealthParts) {
  await checkSchema();
  const executors = await store.executors({ onlyActive: true });
  const lag = lagOf(await store.backlog(), await queues.queueSettings());

  return { executors, lag };
}

function executorsCheck(executors: readonly ExecutorSnapshot[], clock: Clock): Health['checks']['executors'] {
  const active = executors.map(({ id, name, host, concurrency, running, leaseUntil }) => {
    const leaseLeftMs = leaseUntil === null ? null : Math.floor((microsOf(leaseUntil) - clock.now()) / 1000);
    return { id, name, host, concurrency, running, leaseLeftMs };
  });
  const overdue = active.filter(({ leaseLeftMs }) => leaseLeftMs !== null && leaseLeftMs < 0);

  return { ...judged(overdue.length, 'the leases of %n executors are over'), active };
}

function queuesCheck(
  lag: readonly QueueLag[],
  maxLagMsOf: (queue: string) => number | null,
): Health['checks']['queues'] {
  const behind = lag.map(queue => ({ ...queue, maxLagMs: maxLagMsOf(queue.queue) }));
  const late = behind.filter(({ lagMs, maxLagMs, isPaused }) => !isPaused && maxLagMs !== null && lagMs > maxLagMs);

  return { ...judged(late.length, '%n queues are further behind than they may be'), behind };
}

function judged(count: number, problem: string): HealthCheck {
  return count === 0 ? fine : { status: 'degraded', problem: problem.replace('%n', String(count)) };
}

function healthFrom(
  storage: HealthCheck,
  schema: HealthCheck,
  executors: Health['checks']['executors'],
  queues: Health['checks']['queues'],
): Health {
  const checks = { storage, schema, executors, queues };
  const statuses = Object.values(checks).map(({ status }) => status);
  const status = (['down', 'degraded'] as const).find(bad => statuses.includes(bad)) ?? 'ok';

  return { status, checks };
}

function checkedOptions(options: HealthOptions) {
  checkKnown(options, ['maxLag', 'timeout'] satisfies Array<keyof HealthOptions>);
  const { maxLag, timeout = defaultTimeout } = options;
  const timeoutMs = durationMs(timeout, 'timeout');
  if (timeoutMs > 2_147_483_647) {
    throw new InvalidOptionError('timeout', 'be at most 24 days', timeout);
  }

  return { maxLagMsOf: maxLagMsOf(maxLag), timeoutMs };
}

function maxLagMsOf(maxLag: HealthOptions['maxLag']): (queue: string) => number | null {
  if (typeof maxLag !== 'object' || maxLag === null) {
    const ms = maxLag === undefined ? null : durationMs(maxLag, 'maxLag');
    return () => ms;
  }

  const byQueue = new Map(Object.entries(maxLag).map(([queue, lag]) => [queue, durationMs(lag, `maxLag.${queue}`)]));
  return queue => byQueue.get(queue) ?? null;
}

/** @throws when it takes longer; it may still go on then, and nobody waits for it */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The database gave no answer within ${ms} ms.`)), ms);
  });
  work.catch(() => {});

  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
