import type { EntityManager } from '@mikro-orm/core';
import { setTimeout as delay } from 'node:timers/promises';
import { connectPostgresqlClient, isConnected, onPool } from './adapter/postgresql-client.ts';
import { refuseAmbientTransaction } from './adapter/ambient-transaction.ts';
import { MikroOrmHandlerEnvironment } from './adapter/handler-environment.ts';
import { CommitWatch } from './adapter/commit-watch.ts';
import { CommittedJobs } from './adapter/committed-jobs.ts';
import { HintChannel } from './adapter/hint-channel.ts';
import { localHintsOf } from './adapter/local-hints.ts';
import { MikroOrmIdempotencyStore } from './adapter/mikro-orm-idempotency-store.ts';
import { MikroOrmJobStore } from './adapter/mikro-orm-job-store.ts';
import { MikroOrmQueueStore } from './adapter/mikro-orm-queue-store.ts';
import { MikroOrmRecurringStore } from './adapter/mikro-orm-recurring-store.ts';
import { MikroOrmTestBench } from './adapter/mikro-orm-test-bench.ts';
import { preparedStatementsOf } from './adapter/prepared-statements-of.ts';
import { Notifications } from './adapter/notifications.ts';
import { OwnSession } from './adapter/own-session.ts';
import { retryTransient } from './adapter/retry-transient.ts';
import { storeInTransaction } from './adapter/store-in-transaction.ts';
import { sqlDialectOf } from './adapter/sql-dialect-of.ts';
import { hasSessionContext } from './adapter/session-context.ts';
import { stage, type StagingParts } from './adapter/stage.ts';
import { Submitter } from './adapter/submitter.ts';
import type { Session } from './adapter/session.ts';
import { checkRegistered } from './adapter/tables.ts';
import { transactionParts } from './adapter/transaction-parts.ts';
import { acceptedBy } from './core/accepted-submission.ts';
import { adminOf, type Admin } from './core/admin.ts';
import { CreationClock } from './core/clock.ts';
import { controlOf, type Control } from './core/control.ts';
import type { AnyDefinition } from './core/definition.ts';
import { deadLettersOf, type DeadLetters } from './core/dead-letters.ts';
import { knownExecutorOptions, type ExecutorOptions as Options } from './core/executor-options.ts';
import { registerHandler, type JobHandler as Handler, type RegisteredHandler } from './core/handler.ts';
import { EventStream } from './core/event-stream.ts';
import type { JobsEvents } from './core/events.ts';
import type { JobMiddleware } from './core/middleware.ts';
import { createdOf, resolvedTeller, tellStaged } from './core/told.ts';
import { Tracing } from './core/tracing.ts';
import { healthOf, type Health, type HealthOptions, type HealthParts } from './core/health.ts';
import type { RecurringControl } from './core/recurring-control.ts';
import { queueControlOf, type QueueControl } from './core/queue-control.ts';
import { checkKnown } from './core/known-options.ts';
import { oneOrSeveral } from './core/one-or-several.ts';
import type { JobQueries } from './core/queries.ts';
import type { StageResult } from './core/snapshot.ts';
import type { JobStore } from './core/store.ts';
import type { Submission } from './core/submission.ts';
import { testBench, type TestBench } from './core/test-bench.ts';
import { Executor } from './executor/executor.ts';
import type { RunningHost } from './executor/executor-host.ts';
import { checkedOptions, type JobsOptions } from './jobs-options.ts';
import { UnitOfWork } from './unit-of-work/unit-of-work.ts';

/** A handler in a file of its own: `JobHandler<typeof chargeCard, EntityManager>`. */
export type JobHandler<D extends AnyDefinition, Em = EntityManager> = Handler<D, Em>;

/** What an executor runs, and how. */
export interface ExecutorOptions<Em extends EntityManager = EntityManager> extends Options {
  /**
   * One for each definition that this executor knows; jobs of others stay queued. Of any `Jobs`, so that handlers written for
   * PostgreSQL's EntityManager may be tested on SQLite.
   */
  readonly handlers: ReadonlyArray<RegisteredHandler<never>>;
  /** Stand around every handler, the first outermost. @default none */
  readonly middleware?: ReadonlyArray<JobMiddleware<Em>>;
}

/** The one object that a host makes, for one ORM. Keeps no connection and no timer of its own; an executor does. */
export class Jobs<Em extends EntityManager = EntityManager> {
  /**
   * What an executor works through: claims, settlements and the like, under attempt tokens. It crosses scopes, so it is for
   * trusted infrastructure, such as an executor of your own; application code uses `stage`, `submit` and `scope`.
   */
  readonly store: JobStore & JobQueries;
  /** Handles messages and other pieces of work, each in one transaction: business rows, jobs, inbox and outbox. */
  readonly unitOfWork: Pick<UnitOfWork<Em>, 'execute' | 'consume'>;
  /** Pauses queues, and caps how many of their jobs run at once, for all executors together. */
  readonly queues: QueueControl;
  /** Reads and actions over all scopes, for operators. */
  readonly admin: Admin;
  /** Jobs that have ended in vain, over all scopes: to look at, to run again, to delete. */
  readonly deadLetters: DeadLetters;
  /** What this process does, as it happens: for logs, metrics, traces and tests. */
  readonly events: JobsEvents;
  /** For `mikro-orm-jobs/testing`. */
  readonly [testBench]: TestBench<EntityManager>;
  readonly #em: Em;
  readonly #accepted: (value: unknown) => Submission;
  readonly #staging: StagingParts;
  readonly #submitter: Submitter;
  readonly #tracing: Tracing;
  readonly #health: HealthParts;
  /** The stores of people's calls. */
  readonly #controlled: Parameters<typeof controlOf>[1];
  readonly #executorHost: RunningHost<Em>;

  /**
   * @throws InvalidOptionError naming what can't be
   * @throws EntitiesNotRegisteredError when the ORM doesn't know `jobEntities`
   * @throws UnsupportedDriverError for a driver other than SQLite and PostgreSQL
   */
  constructor(options: JobsOptions<Em>) {
    const { em, clock, logger, connectionTimeoutMs, notifications, preparedStatements } = checkedOptions(options);
    checkRegistered(em);

    const random = Math.random;
    const events = new EventStream(logger);
    const tracing = (this.#tracing = new Tracing(options.trace, logger));
    const dialect = sqlDialectOf(em);
    const creationClock = new CreationClock(clock);
    const local = localHintsOf(em);
    const hints = new HintChannel(logger, local.listeners);
    const prepared = preparedStatementsOf(em, dialect, clock, preparedStatements);
    const session = new OwnSession(em, dialect, random, prepared);
    if (dialect.hasNotifications && notifications !== false) {
      hints.connect(
        new Notifications({
          run: () => (isConnected(em) ? onPool(em, session.read) : null),
          connect: stopped => connectPostgresqlClient(em, notifications.connectionString, stopped),
          sender: local.sender,
          onHint: hint => hints.deliver(hint),
          table: session.tables.job.sql,
          logger,
        }),
      );
    }
    const belowCaps = new Set<string>();
    const parts = { dialect, clock, creationClock, hints, belowCaps, tellResolved: resolvedTeller(events) };
    // Beside a bare `begin()` on the only connection, which nobody but that fork can see, a call would wait for ever.
    const patient = (operation: string) => session.within({ ms: connectionTimeoutMs, operation });
    const committed = new CommittedJobs({ ...parts, session: patient('The look after a commit'), logger });
    const commits = new CommitWatch(em, (staged, created) => {
      tellStaged(events, created);
      return committed.committed(staged);
    });
    const storeOn = (session: Session) => new MikroOrmJobStore({ ...parts, session });
    const recurringOn = (session: Session) => new MikroOrmRecurringStore({ ...parts, session });
    const queuesOn = (session: Session) => new MikroOrmQueueStore({ session, clock, hints });

    const partsIn = (transaction: EntityManager) => transactionParts({ ...parts, session }, commits, transaction);
    const environmentOn = (operation: string) => {
      return new MikroOrmHandlerEnvironment(em, patient(operation), dialect, transaction => {
        return storeInTransaction({ ...parts, session }, commits, transaction);
      });
    };
    const environment = environmentOn('executor.start()');

    this.#em = em;
    const enter = (operation: string) => this.#refuseTransaction(operation, 'Call it before or after the transaction.');
    this.store = storeOn(session);
    this.queues = queueControlOf(queuesOn(patient('jobs.queues')), enter);
    this.admin = adminOf(storeOn(patient('jobs.admin')), queuesOn(patient('jobs.admin')), enter, events);
    this.#controlled = {
      jobs: storeOn(patient('jobs.scope()')),
      recurring: recurringOn(patient('jobs.recurring')),
    };
    this.deadLetters = deadLettersOf(storeOn(patient('jobs.deadLetters')), enter, events);
    this.events = events.readable;
    this.#accepted = acceptedBy(clock);
    this[testBench] = new MikroOrmTestBench({
      em,
      environment,
      parts: { ...parts, session },
      partsIn,
      hints,
      clock,
      logger,
    });
    this.#staging = { em, dialect, creationClock, commits, session };
    this.#submitter = new Submitter({
      session,
      connectionTimeoutMs,
      storeOn: session => new MikroOrmJobStore({ ...parts, session }),
      creationClock,
      hints,
      isJoint: !hasSessionContext(em),
    });
    this.#executorHost = {
      store: this.store,
      recurring: recurringOn(session),
      // A handler may wait for it beside an open begin() of its own.
      idempotency: new MikroOrmIdempotencyStore({ session: patient('job.once()'), clock }),
      environment,
      clock,
      logger,
      events,
      random,
    };
    this.#health = {
      store: storeOn(patient('jobs.health()')),
      queues: queuesOn(patient('jobs.health()')),
      checkSchema: () => environmentOn('jobs.health()').check(),
      clock,
    };
    this.unitOfWork = new UnitOfWork({
      dialect: dialect.name,
      fork: () => em.fork({ disableContextResolution: true }) as Em,
      refuseAmbientTransaction: operation => this.#refuseTransaction(operation, 'Call it outside of yours.'),
      stage: (transaction, submissions) =>
        stage(this.#staging, transaction, tracing.applied(submissions.map(this.#accepted))),
      connectionTimeoutMs,
      retry: write => retryTransient(write, random),
      delay: (ms, signal) => delay(ms, undefined, { signal }),
      clock,
      random,
      logger,
      options: options.unitOfWork,
    });
  }

  /**
   * Adds a job in the transaction that is open on `em`: it is there when that commits, and not otherwise. Sends its statement
   * at once and nothing else: your pending work isn't flushed, nothing is committed. The stored job is answered when the
   * identity is taken by the same request, or the unique key by an active job.
   *
   * @param em the EntityManager that `transactional()` hands to its callback, or a fork after `begin()`, or in a hook of a
   *   running flush the hook's own
   * @throws TransactionRequiredError, EntityManagerMismatchError before any SQL
   * @throws JobIdentityConflictError when a different request has this identity; roll your transaction back
   */
  stage(em: EntityManager, submission: Submission): Promise<StageResult>;
  /** Several at once, up to 1,000 in one statement: answers by position. A conflict leaves none of them in your transaction. */
  stage(em: EntityManager, submissions: readonly Submission[]): Promise<StageResult[]>;
  async stage(em: EntityManager, ...given: readonly unknown[]): Promise<StageResult | StageResult[]> {
    return oneOrSeveral(given, this.#accepted, submissions => {
      return stage(this.#staging, em, this.#tracing.applied(submissions));
    });
  }

  /**
   * Adds a job by itself, in a transaction of the library's own: when the promise resolves, it is committed. May be repeated:
   * the same submission answers the stored job. Refused inside a transaction of yours, where `stage()` belongs.
   *
   * @throws AmbientTransactionError before any SQL
   * @throws JobIdentityConflictError when a different request has this identity
   * @throws ConnectionTimeoutError when there was no connection to be had
   */
  submit(submission: Submission): Promise<StageResult>;
  /** Several at once, all or nothing: answers by position. */
  submit(submissions: readonly Submission[]): Promise<StageResult[]>;
  async submit(...given: readonly unknown[]): Promise<StageResult | StageResult[]> {
    return oneOrSeveral(given, this.#accepted, submissions => {
      this.#refuseTransaction('submit()', 'Use `stage(em, …)` there.');
      return this.#submit(this.#tracing.applied(submissions));
    });
  }

  /** Reads and control of the jobs of one scope; `''` is the scope of submissions that name none. */
  scope(scope: string): Control {
    return controlOf(
      scope,
      this.#controlled,
      this.#executorHost.clock,
      operation => this.#refuseTransaction(operation, 'Call it before or after the transaction.'),
      this.#executorHost.events,
    );
  }

  /** The recurring jobs of the scope `''`; those of another are `scope(s).recurring`. */
  get recurring(): RecurringControl {
    return this.scope('').recurring;
  }

  /**
   * Whether the database answers and has the tables, whether leases are renewed, and how far queues are behind. For health endpoints: whatever
   * the database does, or doesn't within `timeout`, is an answer. Texts of the database's errors are in it: not for the public.
   *
   * @throws InvalidOptionError, AmbientTransactionError: mistakes of the caller alone
   */
  async health(options?: HealthOptions): Promise<Health> {
    this.#refuseTransaction('health()', 'Call it before or after the transaction.');
    return healthOf(this.#health, options);
  }

  /** A handler of one definition; its payload's type comes from there, its EntityManager's from this ORM. */
  handler<D extends AnyDefinition>(definition: D, run: JobHandler<D, Em>): RegisteredHandler<Em> {
    return registerHandler(definition, run);
  }

  /** An executor of this process; it does nothing before `start()`. @throws InvalidOptionError */
  executor(options: ExecutorOptions<Em>): Executor<Em> {
    const { handlers, middleware, ...others } = checkKnown(options, knownOfExecutor);
    return new Executor(this.#executorHost, handlers, others, middleware);
  }

  async #submit(submissions: readonly Submission[]): Promise<StageResult[]> {
    const results = submissions.length === 0 ? [] : await this.#submitter.submit(submissions);
    tellStaged(this.#executorHost.events, createdOf(results));

    return results;
  }

  #refuseTransaction(operation: string, advice: string): void {
    refuseAmbientTransaction(this.#em, operation, advice);
  }
}

const knownOfExecutor: ReadonlyArray<keyof ExecutorOptions> = ['handlers', 'middleware', ...knownExecutorOptions];
