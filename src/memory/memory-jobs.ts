import { acceptedBy } from '../core/accepted-submission.ts';
import { adminOf, type Admin } from '../core/admin.ts';
import { checkedClock, systemClock, type Clock } from '../core/clock.ts';
import { controlOf, type Control } from '../core/control.ts';
import { deadLettersOf, type DeadLetters } from '../core/dead-letters.ts';
import type { AnyDefinition } from '../core/definition.ts';
import { EventStream } from '../core/event-stream.ts';
import type { JobsEvents } from '../core/events.ts';
import { guardedLogger } from '../core/guarded-logger.ts';
import type { JobMiddleware } from '../core/middleware.ts';
import { oneOrSeveral } from '../core/one-or-several.ts';
import { createdOf, resolvedTeller, tellStaged } from '../core/told.ts';
import { Tracing, type TraceHook } from '../core/tracing.ts';
import { knownExecutorOptions, type ExecutorOptions } from '../core/executor-options.ts';
import { registerHandler, type JobHandler, type RegisteredHandler } from '../core/handler.ts';
import { healthOf, type Health, type HealthOptions, type HealthParts } from '../core/health.ts';
import { checkKnown } from '../core/known-options.ts';
import { checkedLogger, consoleLogger, type Logger } from '../core/logger.ts';
import type { JobQueries } from '../core/queries.ts';
import { queueControlOf, type QueueControl } from '../core/queue-control.ts';
import type { RecurringControl } from '../core/recurring-control.ts';
import { SettableClock } from '../core/settable-clock.ts';
import type { StageResult } from '../core/snapshot.ts';
import type { JobStore } from '../core/store.ts';
import type { Submission } from '../core/submission.ts';
import { testBench, type TestBench } from '../core/test-bench.ts';
import { Executor } from '../executor/executor.ts';
import type { RunningHost } from '../executor/executor-host.ts';
import { MemoryDatabase } from './memory-database.ts';
import { MemoryEnvironment } from './memory-environment.ts';
import { memoryStores } from './memory-stores.ts';
import { MemoryTestBench } from './memory-test-bench.ts';

export interface MemoryJobsOptions {
  /** @default the wall clock of this process */
  readonly clock?: Clock;
  /** Pino-shaped. @default warnings and errors to the console */
  readonly logger?: Logger;
  /** The trace context of whoever calls, for submissions that bring none of their own. @default none */
  readonly trace?: TraceHook;
}

export interface MemoryExecutorOptions extends ExecutorOptions {
  /** One for each definition that this executor knows; jobs of others stay queued. */
  readonly handlers: ReadonlyArray<RegisteredHandler<undefined>>;
  /** Stand around every handler, the first outermost. @default none */
  readonly middleware?: ReadonlyArray<JobMiddleware<undefined>>;
  /** @default false: no other process could take its jobs over */
  readonly lease?: ExecutorOptions['lease'];
}

/**
 * `Jobs` without a database, for tests and demos. **NOT DURABLE**: every job, attempt, queue setting and recurring job is in the
 * memory of this process and gone with it, and no other process sees any of them.
 *
 * The states, fences, retries, continuations, caps and schedules are those of `Jobs`. What needs a database is not there:
 *
 * - no `stage()` and no unit of work, as there is no transaction of yours that a job could commit with: `submit()`;
 * - no EntityManager: `job.em` is undefined in its handlers;
 * - `job.transactional(work)` runs `work` and then settles the attempt. When either fails, nothing that `work` did is rolled
 *   back.
 *
 * ```ts
 * const jobs = new MemoryJobs();
 * const sendMail = defineJob<{ to: string }>()({ name: 'mail.send' });
 * const executor = jobs.executor({ handlers: [jobs.handler(sendMail, job => deliver(job.payload.to))] });
 *
 * await executor.start();
 * await jobs.submit(sendMail.create({ to: 'ada@example.org' }));
 * ```
 */
export class MemoryJobs {
  /** What an executor works through. It crosses scopes; application code uses `submit` and `scope`. */
  readonly store: JobStore & JobQueries;
  /** Pauses queues, and caps how many of their jobs run at once, for all executors together. */
  readonly queues: QueueControl;
  /** Reads and actions over all scopes, for operators. */
  readonly admin: Admin;
  /** Jobs that have ended in vain, over all scopes. */
  readonly deadLetters: DeadLetters;
  /** What this process does, as it happens. */
  readonly events: JobsEvents;
  /** For `mikro-orm-jobs/testing`. */
  readonly [testBench]: TestBench<undefined>;
  readonly #accepted: (value: unknown) => Submission;
  readonly #tracing: Tracing;
  readonly #health: HealthParts;
  readonly #executorHost: RunningHost<undefined>;

  /** @throws InvalidOptionError */
  constructor(options: MemoryJobsOptions = {}) {
    const { clock: ownClock = systemClock, logger: given = consoleLogger, trace } = checkKnown(options, knownOptions);
    const clock = new SettableClock(checkedClock(ownClock));
    const database = new MemoryDatabase();
    const stores = memoryStores(clock, database);
    const { jobs, queues, recurring, idempotency } = stores;
    const environment = new MemoryEnvironment(jobs);
    const logger = guardedLogger(checkedLogger(given));
    const events = new EventStream(logger);
    database.onResolved = resolvedTeller(events);

    this.#accepted = acceptedBy(clock);
    this[testBench] = new MemoryTestBench(database, stores, environment, clock, logger);
    this.store = jobs;
    this.queues = queueControlOf(queues, nothingToRefuse);
    this.admin = adminOf(jobs, queues, nothingToRefuse, events);
    this.deadLetters = deadLettersOf(jobs, nothingToRefuse, events);
    this.events = events.readable;
    this.#health = { store: jobs, queues, checkSchema: () => Promise.resolve(), clock };
    this.#tracing = new Tracing(trace, logger);
    this.#executorHost = {
      store: jobs,
      recurring,
      idempotency,
      environment,
      clock,
      logger,
      events,
      random: Math.random,
    };
  }

  /**
   * Adds a job to this process's memory. May be repeated: the same submission answers the stored job.
   *
   * @throws JobIdentityConflictError when a different request has this identity
   */
  submit(submission: Submission): Promise<StageResult>;
  /** Several at once, all or nothing: answers by position. */
  submit(submissions: readonly Submission[]): Promise<StageResult[]>;
  async submit(...given: readonly unknown[]): Promise<StageResult | StageResult[]> {
    return oneOrSeveral(given, this.#accepted, async submissions => {
      const results = await this.store.submit(this.#tracing.applied(submissions));
      tellStaged(this.#executorHost.events, createdOf(results));

      return results;
    });
  }

  /** Reads and control of the jobs of one scope; `''` is the scope of submissions that name none. */
  scope(scope: string): Control {
    const { recurring, clock, events } = this.#executorHost;
    return controlOf(scope, { jobs: this.store, recurring }, clock, nothingToRefuse, events);
  }

  /** The recurring jobs of the scope `''`; those of another are `scope(s).recurring`. */
  get recurring(): RecurringControl {
    return this.scope('').recurring;
  }

  /** Whether leases are renewed, and how far queues are behind; memory itself is always there. @throws InvalidOptionError */
  async health(options?: HealthOptions): Promise<Health> {
    return healthOf(this.#health, options);
  }

  /** A handler of one definition; its payload's type comes from there. */
  handler<D extends AnyDefinition>(definition: D, run: JobHandler<D, undefined>): RegisteredHandler<undefined> {
    return registerHandler(definition, run);
  }

  /** An executor of this process; it does nothing before `start()`. @throws InvalidOptionError */
  executor(options: MemoryExecutorOptions): Executor<undefined> {
    const { handlers, middleware, lease = false, ...others } = checkKnown(options, knownOfExecutor);
    return new Executor(this.#executorHost, handlers, { ...others, lease }, middleware);
  }
}

const knownOptions: ReadonlyArray<keyof MemoryJobsOptions> = ['clock', 'logger', 'trace'];
const knownOfExecutor: ReadonlyArray<keyof MemoryExecutorOptions> = ['handlers', 'middleware', ...knownExecutorOptions];

/** There is no transaction that a call could be made inside of. */
const nothingToRefuse = () => {};
