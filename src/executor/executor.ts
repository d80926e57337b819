import {
  resolveExecutorOptions,
  type ExecutorOptions,
  type ResolvedExecutorOptions,
} from '../core/executor-options.ts';
import type { RegisteredHandler } from '../core/handler.ts';
import { EventStream } from '../core/event-stream.ts';
import { checkedMiddleware, type JobMiddleware } from '../core/middleware.ts';
import type { ExecutorHost, RunningHost } from './executor-host.ts';
import { guardedLogger } from '../core/guarded-logger.ts';
import { HandlerList } from './handler-list.ts';
import { outside } from './outside.ts';
import { stopOnSignals } from './stop-on-signals.ts';
import { StartedExecutor } from './started-executor.ts';

/**
 * Runs the jobs of its handlers, from `start()` to `stop()`; and again after the next `start()`.
 *
 * It holds its jobs under a lease, so any number of processes may run executors on one database; with `lease: false` one process at a
 * time may. Several executors in a process, for different queues perhaps, are fine.
 */
export class Executor<Em> {
  readonly #host: RunningHost<Em>;
  readonly #handlers: HandlerList<Em>;
  readonly #middleware: ReadonlyArray<JobMiddleware<Em>>;
  readonly #options: ResolvedExecutorOptions;
  #started: Promise<StartedExecutor<Em>> | null = null;
  #stopped: Promise<void> = Promise.resolve();

  /** @throws InvalidOptionError for an option or a list of handlers that can't work */
  constructor(
    host: ExecutorHost<Em>,
    handlers: ReadonlyArray<RegisteredHandler<Em>>,
    options: ExecutorOptions = {},
    middleware: ReadonlyArray<JobMiddleware<Em>> = [],
  ) {
    const logger = guardedLogger(host.logger);
    this.#host = { ...host, logger, events: host.events ?? new EventStream(logger) };
    this.#handlers = new HandlerList(handlers);
    this.#middleware = checkedMiddleware(middleware);
    this.#options = resolveExecutorOptions(options, host.store.capabilities);
  }

  /**
   * Recovers what a killed process left running, then takes jobs. Resolves when it does. A second call changes nothing and
   * resolves with the first; after `stop()`, also while that still goes on, it starts anew. When it rejects, nothing is left
   * running and it may be called again.
   *
   * @throws AmbientTransactionError inside a transaction
   * @throws SchemaMissingError when the tables are missing
   */
  start(): Promise<void> {
    if (this.#started === null) {
      const started = this.#start(this.#stopped);
      this.#started = started;
      started.catch(() => this.#forget(started));
    }

    return this.#started.then(() => {});
  }

  /**
   * Takes no new jobs and gives back those whose handlers never began; waits `drainTimeout` for handlers, then aborts their
   * signals and waits `abortGrace`. What runs even then, or threw because of it, is recovered: queued again if its job's
   * `onInterrupt` is `'requeue'`, else interrupted; whatever such a handler still does to its job is refused.
   *
   * Resolves when no timer, query or listener of the executor is left, and at the latest two seconds after these times: a database
   * that doesn't answer holds it up no longer (`stop_incomplete` in the log). Never rejects. Without a start it does nothing; during
   * a start it waits for that; concurrent calls wait for the same end. Not to be called inside a transaction of the same ORM.
   */
  stop(): Promise<void> {
    if (this.#started !== null) {
      const started = this.#started;
      this.#started = null;
      this.#stopped = outside(() => this.#stop(started));
    }

    return this.#stopped;
  }

  /**
   * Calls `stop()` when the process gets one of these signals, so that what runs can end. When that has resolved, the process exits with
   * the code that a shell gives to that signal (143 for SIGTERM), unless other code of the process listens for it too: then how it
   * ends is that code's matter, and `stop()` may be awaited there. A second signal doesn't wait: it exits at once, and what ran is
   * recovered when the lease is over. Nothing is listened for unless this is called, and it keeps no process alive.
   *
   * @returns takes it back
   * @throws InvalidOptionError for what is no signal, or one that nobody can listen for
   */
  stopOnSignals(signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']): () => void {
    return stopOnSignals(this, signals);
  }

  async #start(stopped: Promise<void>): Promise<StartedExecutor<Em>> {
    const { connections } = await this.#host.environment.check();
    await stopped;
    const needed = connections === null ? null : this.#neededOf(connections);

    const executor = new StartedExecutor(this.#host, this.#handlers, this.#middleware, this.#options);
    await outside(() => executor.open(needed));

    return executor;
  }

  async #stop(started: Promise<StartedExecutor<Em>>): Promise<void> {
    const executor = await started.catch(() => null);
    await executor?.close();
  }

  #forget(started: Promise<StartedExecutor<Em>>): void {
    if (this.#started === started) {
      this.#started = null;
    }
  }

  /** How many it may use of a pool of so many; warns when that has fewer. */
  #neededOf(connections: number): number {
    const needed = this.#options.concurrency + 2;

    if (connections < needed) {
      this.#host.logger.warn(
        { event: 'pool_too_small', connections, needed },
        `the executor may use ${needed} connections and the pool has ${connections}: raise its maximum or lower \`concurrency\``,
      );
    }
    return needed;
  }
}
