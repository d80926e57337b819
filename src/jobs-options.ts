import type { EntityManager } from '@mikro-orm/core';
import { checkedClock, systemClock, type Clock } from './core/clock.ts';
import {
  checkedConnectionTimeout,
  checkedNotifications,
  checkedPreparedStatements,
} from './core/connection-options.ts';
import type { Duration } from './core/duration.ts';
import { InvalidOptionError } from './core/errors.ts';
import { guardedLogger } from './core/guarded-logger.ts';
import { checkKnown } from './core/known-options.ts';
import { checkedLogger, consoleLogger, type Logger } from './core/logger.ts';
import { SettableClock } from './core/settable-clock.ts';
import type { TraceHook } from './core/tracing.ts';
import type { UnitOfWorkOptions } from './unit-of-work/options.ts';

export interface JobsOptions<Em extends EntityManager> {
  /** The host's ORM, whose `entities` hold `...jobEntities`. */
  readonly orm: { readonly em: Em };
  /** @default the wall clock of this process */
  readonly clock?: Clock;
  /** Pino-shaped. @default warnings and errors to the console */
  readonly logger?: Logger;
  /**
   * How long a call (`submit()`, `unitOfWork`, reads and control, `executor.start()`) waits for a connection before it gives up with
   * a `ConnectionTimeoutError`. MikroORM 7; with 6 the pool's own limit holds, a minute by default. @default '30s'
   */
  readonly connectionTimeout?: Duration;
  /**
   * PostgreSQL: whether executors of other processes are told of commits by NOTIFY, and listen on a connection of their own, one a
   * process that runs an executor. A pooler in transaction mode knows no LISTEN: give a connection string past it, or `false`, and
   * polling does the work. @default true
   */
  readonly notifications?: boolean | { readonly connectionString: string };
  /**
   * Whether the statements that are sent over and over are prepared once for each connection, and planned anew every five seconds.
   * MikroORM 7.2 and later; otherwise, and where the ORM was given a connection or an `onQuery` hook of the host's own making, all is
   * sent as text. `true`: also through a pooler, which must know prepared statements (PgBouncer with `max_prepared_statements`).
   * @default unless a pooler stands in between
   */
  readonly preparedStatements?: boolean;
  /**
   * The trace context of whoever calls, asked for with every `stage()` and `submit()`, for submissions that bring none of their own. One that
   * throws costs no job. @default none
   */
  readonly trace?: TraceHook;
  /** Leases, failures and delays of `unitOfWork.consume()`. */
  readonly unitOfWork?: UnitOfWorkOptions;
}

const knownOptions: ReadonlyArray<keyof JobsOptions<EntityManager>> = [
  'orm', 'clock', 'logger', 'connectionTimeout', 'notifications', 'preparedStatements', 'trace', 'unitOfWork',
]; // prettier-ignore

/** Defaults and checks. @throws InvalidOptionError naming what can't be */
export function checkedOptions<Em extends EntityManager>(options: JobsOptions<Em>) {
  if (typeof (options as Partial<JobsOptions<Em>['orm']> | undefined)?.em?.getContext === 'function') {
    throw new InvalidOptionError('orm', 'be given by its name, `new Jobs({ orm })`', undefined);
  }
  if (typeof options?.orm?.em?.getContext !== 'function') {
    throw new InvalidOptionError(
      'orm',
      'be an initialised MikroORM: `new Jobs({ orm: await MikroORM.init(…) })`',
      options?.orm,
    );
  }
  checkKnown(options, knownOptions);

  const { orm, clock = systemClock, logger = consoleLogger, connectionTimeout = '30s', notifications = true } = options;
  return {
    em: orm.em,
    clock: new SettableClock(checkedClock(clock)),
    logger: guardedLogger(checkedLogger(logger)),
    connectionTimeoutMs: checkedConnectionTimeout(connectionTimeout),
    preparedStatements: checkedPreparedStatements(options.preparedStatements),
    notifications: checkedNotifications(notifications),
  };
}
