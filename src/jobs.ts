import type { EntityManager } from '@mikro-orm/core';
import { setTimeout as delay } from 'node:timers/promises';
import { connectPostgresqlClient, isConnected } from './adapter/postgresql-client.ts';
import { refuseAmbientTransaction } from './adapter/ambient-transaction.ts';
import { MikroOrmHandlerEnvironment } from './adapter/handler-environment.ts';
import { CommitWatch } from './adapter/commit-watch.ts';
import { HintChannel, type Hints } from './adapter/hint-channel.ts';
import { MikroOrmJobStore } from './adapter/mikro-orm-job-store.ts';
import { MikroOrmQueueStore } from './adapter/mikro-orm-queue-store.ts';
import { MikroOrmRecurringStore } from './adapter/mikro-orm-recurring-store.ts';
import { preparedStatementsOf } from './adapter/prepared-statements-of.ts';
import { Notifications } from './adapter/notifications.ts';
import { OwnSession } from './adapter/own-session.ts';
import { retryTransient } from './adapter/retry-transient.ts';
import { sqlDialectOf } from './adapter/sql-dialect-of.ts';
import { hasSessionContext } from './adapter/session-context.ts';
import { stage, type StagingParts } from './adapter/stage.ts';
import { Submitter } from './adapter/submitter.ts';
import type { Session } from './adapter/session.ts';
import { checkRegistered } from './adapter/tables.ts';
import { TransactionSession } from './adapter/transaction-session.ts';
import { adminOf, type Admin } from './core/admin.ts';
import { CreationClock, systemClock, type Clock } from './core/clock.ts';
import { controlOf, type Control } from './core/control.ts';
import type { AnyDefinition } from './core/definition.ts';
import { durationMs, type Duration } from './core/duration.ts';
import { InvalidOptionError } from './core/errors.ts';
import type { ExecutorOptions as Options } from './core/executor-options.ts';
import { registerHandler, type JobHandler as Handler, type RegisteredHandler } from './core/handler.ts';
import type { RecurringControl } from './core/recurring-control.ts';
import { queueControlOf, type QueueControl } from './core/queue-control.ts';
import { consoleLogger, type Logger } from './core/logger.ts';
import type { JobQueries } from './core/queries.ts';
import type { StageResult } from './core/snapshot.ts';
import type { JobStore } from './core/store.ts';
import { checkedSubmission, type Submission } from './core/submission.ts';
import { Executor } from './executor/executor.ts';
import { guardedLogger } from './executor/guarded-logger.ts';
import type { ExecutorHost } from './executor/executor-host.ts';
import type { UnitOfWorkOptions } from './unit-of-work/options.ts';
import { UnitOfWork } from './unit-of-work/unit-of-work.ts';

/** A handler in a file of its own: `JobHandler<typeof chargeCard, EntityManager>`. */
export type JobHandler<D extends AnyDefinition, Em = EntityManager> = Handler<D, Em>;

export interface JobsOptions<Em extends EntityManager> {
  /** The host's ORM, whose `entities` hold `...jobEntities`. */
  readonly orm: { readonly em: Em };
  /** @default the wall clock of this process */
  readonly clock?: Clock;
  /** Pino-shaped. @default warnings and errors to the console */
  readonly logger?: Logger;
  /**
   * How long `submit()` and `unitOfWork` wait for a connection before it gives up with a `ConnectionTimeoutError`. MikroORM 7; with 6 the
   * pool's own limit holds, a minute by default. @default '30s'
   */
  readonly connectionTimeout?: Duration;
  /**
   * PostgreSQL: whether executors of other processes are told of commits by NOTIFY, and listen on a connection of their own, one a
   * process that runs an executor. A pooler in transaction mode knows no LISTEN: give a connection string past it, or `false`, and
   * polling does the work. @default true
   */
  readonly notifications?: boolean | { readonly connectionString: string };
  /**
   * Whether the statements that are sent over and over are prepared once for each connection, and planned anew every five seconds. `false`
   * for a pooler in transaction mode that knows no prepared statements (PgBouncer before 1.21). MikroORM 7.2 and later; otherwise, and
   * where the ORM was given a connection or an `onQuery` hook of the host's own making, all is sent as text. @default true
   */
  readonly preparedStatements?: boolean;
  /** Leases, failures and delays of `unitOfWork.consume()`. */
  readonly unitOfWork?: UnitOfWorkOptions;
}

/** What an executor runs, and how. */
export interface ExecutorOptions extends Options {
  /**
   * One for each definition that this executor knows; jobs of others stay queued. Of any `Jobs`, so that handlers written for
   * PostgreSQL's EntityManager may be tested on SQLite.
   */
  readonly handlers: ReadonlyArray<RegisteredHandler<never>>;
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
  readonly #em: Em;
  readonly #staging: StagingParts;
  readonly #submitter: Submitter;
  readonly #executorHost: ExecutorHost<Em>;

  /**
   * @throws EntitiesNotRegisteredError when the ORM doesn't know `jobEntities`
   * @throws UnsupportedDriverError for a driver other than SQLite and PostgreSQL
   */
  constructor(options: JobsOptions<Em>) {
    const { em, clock, logger, connectionTimeoutMs, notifications } = checkedOptions(options);
    checkRegistered(em);

    const random = Math.random;
    const dialect = sqlDialectOf(em);
    const creationClock = new CreationClock(clock);
    const hints = new HintChannel(logger);
    const prepared = preparedStatementsOf(em, dialect, clock, options.preparedStatements);
    const session = new OwnSession(em, dialect, random, prepared);
    if (dialect.hasNotifications && notifications !== false) {
      hints.connect(
        new Notifications({
          run: () => (isConnected(em) ? session.read : null),
          connect: stopped => connectPostgresqlClient(em, notifications.connectionString, stopped),
          onHint: hint => hints.deliver(hint),
          table: session.tables.job.sql,
          logger,
        }),
      );
    }
    const commits = new CommitWatch(em, staged => hints.staged(staged));
    const storeOn = (session: Session, told: Hints = hints) => {
      return new MikroOrmJobStore({ session, dialect, clock, creationClock, hints: told });
    };
    // What a transaction makes due is due when it has committed: told of before, it would be looked for in vain.
    const storeIn = (transaction: EntityManager) => {
      return storeOn(new TransactionSession(transaction, prepared), {
        reach: hints.reach,
        subscribe: listener => hints.subscribe(listener),
        send: () => commits.mark(transaction, { awaiting: [], lanes: undefined }),
      });
    };

    this.#em = em;
    const enter = (operation: string) => this.#refuseTransaction(operation, 'Call it before or after the transaction.');
    const queueStore = new MikroOrmQueueStore({ session, clock, hints });
    this.store = storeOn(session);
    this.queues = queueControlOf(queueStore, enter);
    this.admin = adminOf(this.store, queueStore, enter);
    this.#staging = { em, dialect, creationClock, commits, prepared };
    this.#submitter = new Submitter({
      session,
      connectionTimeoutMs,
      storeOn: session => storeOn(session),
      creationClock,
      hints,
      isJoint: !hasSessionContext(em),
    });
    this.#executorHost = {
      store: this.store,
      recurring: new MikroOrmRecurringStore({ session, dialect, clock, creationClock, hints }),
      environment: new MikroOrmHandlerEnvironment(em, session, dialect, storeIn),
      clock,
      logger,
      random,
    };
    this.unitOfWork = new UnitOfWork({
      dialect: dialect.name,
      fork: () => em.fork({ disableContextResolution: true }) as Em,
      refuseAmbientTransaction: operation => this.#refuseTransaction(operation, 'Call it outside of yours.'),
      stage: (transaction, submissions) => stage(this.#staging, transaction, submissions.map(checkedSubmission)),
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
  /** Several at once, in one statement: answers by position. A conflict leaves none of them in your transaction. */
  stage(em: EntityManager, submissions: readonly Submission[]): Promise<StageResult[]>;
  async stage(em: EntityManager, given: Submission | readonly Submission[]): Promise<StageResult | StageResult[]> {
    return single(given, submissions => stage(this.#staging, em, submissions));
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
  async submit(given: Submission | readonly Submission[]): Promise<StageResult | StageResult[]> {
    return single(given, submissions => {
      this.#refuseTransaction('submit()', 'Use `stage(em, …)` there.');
      return submissions.length === 0 ? Promise.resolve([]) : this.#submitter.submit(submissions);
    });
  }

  /** Reads and control of the jobs of one scope; `''` is the scope of submissions that name none. */
  scope(scope: string): Control {
    return controlOf(
      scope,
      { jobs: this.store, recurring: this.#executorHost.recurring },
      this.#executorHost.clock,
      operation => {
        this.#refuseTransaction(operation, 'Call it before or after the transaction.');
      },
    );
  }

  /** The recurring jobs of the scope `''`; those of another are `scope(s).recurring`. */
  get recurring(): RecurringControl {
    return this.scope('').recurring;
  }

  /** A handler of one definition; its payload's type comes from there, its EntityManager's from this ORM. */
  handler<D extends AnyDefinition>(definition: D, run: JobHandler<D, Em>): RegisteredHandler<Em> {
    return registerHandler(definition, run);
  }

  /** An executor of this process; it does nothing before `start()`. @throws InvalidOptionError */
  executor({ handlers, ...options }: ExecutorOptions): Executor<Em> {
    return new Executor(this.#executorHost, handlers, options);
  }

  #refuseTransaction(operation: string, advice: string): void {
    refuseAmbientTransaction(this.#em, operation, advice);
  }
}

/** One submission or several, each one made by a definition; one is answered by one. */
async function single(
  given: Submission | readonly Submission[],
  store: (submissions: readonly Submission[]) => Promise<StageResult[]>,
): Promise<StageResult | StageResult[]> {
  const isList = Array.isArray(given);
  const submissions = (isList ? given : [given]).map(checkedSubmission);
  const results = await store(submissions);

  return isList ? results : results[0]!;
}

function checkedOptions<Em extends EntityManager>(options: JobsOptions<Em>) {
  if (typeof options?.orm?.em?.getContext !== 'function') {
    throw new InvalidOptionError(
      'orm',
      'be an initialised MikroORM: `new Jobs({ orm: await MikroORM.init(…) })`',
      options?.orm,
    );
  }

  const { orm, clock = systemClock, logger = consoleLogger, connectionTimeout = '30s', notifications = true } = options;
  return {
    em: orm.em,
    clock,
    logger: guardedLogger(logger),
    connectionTimeoutMs: checkedConnectionTimeout(connectionTimeout),
    notifications: checkedNotifications(notifications),
  };
}

/** A timer takes a longer time for none at all. */
function checkedConnectionTimeout(timeout: Duration): number {
  const ms = durationMs(timeout, 'connectionTimeout');
  if (ms > 2_147_483_647) {
    throw new InvalidOptionError('connectionTimeout', 'be at most 24 days', timeout);
  }

  return ms;
}

function checkedNotifications(notifications: unknown): false | { readonly connectionString: string | null } {
  if (typeof notifications === 'boolean') {
    return notifications && { connectionString: null };
  }

  const { connectionString } = (notifications ?? {}) as { connectionString?: unknown };
  if (typeof connectionString !== 'string' || connectionString === '') {
    throw new InvalidOptionError('notifications', 'be true, false or { connectionString }', notifications);
  }

  return { connectionString };
}
