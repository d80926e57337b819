import type { Attempt } from '../core/attempt.ts';
import type { DueLane } from '../core/due-lane.ts';
import type { ResolvedExecutorOptions } from '../core/executor-options.ts';
import type { JobMiddleware } from '../core/middleware.ts';
import type { ClaimAnswer, StoreHint } from '../core/store.ts';
import { microsOfMs } from '../core/time.ts';
import { attemptFields, eventAttempt } from './attempt-fields.ts';
import { AttemptRunner } from './attempt-runner.ts';
import { AttemptWatcher } from './attempt-watcher.ts';
import type { RunningHost } from './executor-host.ts';
import type { HandlerList } from './handler-list.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { Maintenance } from './maintenance.ts';
import { outside } from './outside.ts';
import { persist } from './persist.ts';
import { pruneKeys } from './prune-keys.ts';
import { Poller } from './poller.ts';
import { Pruner } from './pruner.ts';
import { release } from './release.ts';
import { releaseForgotten } from './release-forgotten.ts';
import { isRecovered, recover } from './recover.ts';
import { recoverLapsed } from './recover-lapsed.ts';
import { recoverOrphans } from './recover-orphans.ts';
import { resolveAwaiting, turnsPerSweep } from './resolve-awaiting.ts';
import type { RunningAttempt } from './running-attempt.ts';
import { RunningAttempts } from './running-attempts.ts';
import { Scheduler } from './scheduler.ts';
import { Settler } from './settler.ts';
import { waitMsOf } from './settled-event.ts';
import { longestTimerMs, settlesWithin } from './sleep.ts';

/** So many outcomes may wait for the database before no more jobs are started: a crash would lose what they say. */
const maxUnsettled = 200;
/** How long a stop waits for the database after its budget, for the last try. */
const lastTryMs = 2000;

/** An executor from its start to its stop: one registration, one poller, the attempts that it holds. */
export class StartedExecutor<Em> {
  readonly #host: RunningHost<Em>;
  readonly #handlers: HandlerList<Em>;
  readonly #options: ResolvedExecutorOptions;
  readonly #running = new RunningAttempts(() => this.#poller.slotFreed());
  /** Attempts that the stop interrupted: neither running nor to be settled. */
  readonly #interrupted = new Map<string, RunningAttempt>();
  readonly #settler: Settler;
  readonly #watcher: AttemptWatcher;
  readonly #runner: AttemptRunner<Em>;
  readonly #poller: Poller;
  readonly #stopping = new AbortController();
  /** Aborted when nothing is held any more: renewals go on until then. */
  readonly #released = new AbortController();
  /** Aborted when the time for writing what is left is over. */
  readonly #budget = new AbortController();
  readonly #lease: LeaseKeeper;
  readonly #maintenance: Maintenance;
  readonly #scheduler: Scheduler;
  #polling: Promise<void> = Promise.resolve();
  #maintaining: Promise<void> = Promise.resolve();
  #renewing: Promise<void> = Promise.resolve();
  #scheduling: Promise<void> = Promise.resolve();
  #unsubscribe: () => Promise<void> = () => Promise.resolve();

  constructor(
    host: RunningHost<Em>,
    handlers: HandlerList<Em>,
    middleware: ReadonlyArray<JobMiddleware<Em>>,
    options: ResolvedExecutorOptions,
  ) {
    const { store, events, logger } = host;
    this.#host = host;
    this.#handlers = handlers;
    this.#options = options;
    this.#settler = new Settler(store, events, logger, () => this.#poller.slotFreed());
    this.#watcher = new AttemptWatcher(store, this.#running, options, events);
    this.#runner = new AttemptRunner({
      ...host,
      handlers,
      middleware,
      running: this.#running,
      settle: ended => this.#settler.settle(ended),
      interrupt: run => this.#interrupted.set(run.token, run),
    });
    this.#lease = new LeaseKeeper({
      ...host,
      options,
      metadata: { definitions: handlers.definitions, queues: options.queues, concurrency: options.concurrency },
      runningTokens: () => [...this.#running].map(run => run.token),
      heed: (token, status) => this.#watcher.heed(token, status),
      onLost: () => [...this.#running].forEach(run => this.#watcher.heed(run.token, 'ended')),
      onHeld: () => this.#poller.wake(),
      onBack: () => this.#settler.sendPostponed(),
    });
    const pruner = new Pruner({ ...host, retention: options.retention });
    this.#maintenance = new Maintenance(
      [
        { name: 'recover_lapsed', every: 1, run: () => recoverLapsed(store, events) },
        { name: 'resolve', every: turnsPerSweep, run: () => resolveAwaiting(store) },
        { name: 'prune', every: 1, run: () => pruner.run(this.#stopping.signal) },
        { name: 'prune_keys', every: 120, run: () => pruneKeys(host.idempotency, this.#stopping.signal) },
      ],
      options.maintenanceIntervalMs,
      events,
    );
    this.#scheduler = new Scheduler({ ...host, store: host.recurring, intervalMs: 2 * options.maintenanceIntervalMs });
    this.#poller = new Poller({
      claim: (limit, lanes) => this.#claim(limit, lanes),
      begin: attempt => this.#begin(attempt),
      release: attempts => release(store, attempts, events),
      releaseForgotten: () =>
        releaseForgotten({
          store,
          lease: this.#lease,
          knows: token => this.#knows(token),
          limit: 2 * options.concurrency + maxUnsettled,
          events,
        }),
      freeSlots: () => Math.min(options.concurrency - this.#running.size, maxUnsettled - this.#settler.size),
      pollIntervalMs: options.pollIntervalMs,
      clock: host.clock,
      events,
      logger,
    });
  }

  /**
   * Leaves nothing behind when it rejects.
   *
   * @param connections how many it may use; null where there is no pool
   */
  async open(connections: number | null): Promise<void> {
    const { store, events } = this.#host;
    const { name, leaseMs } = this.#options;

    try {
      await this.#lease.open();
      const recovered = await recoverOrphans(this.#host, leaseMs !== null);
      const { executorId } = this.#lease;
      events.emit({ event: 'executor_started', executorId, name, recovered, connections });
    } catch (error) {
      await this.#lease.close();
      throw error;
    }

    // A hint comes from whoever committed: what it sets off must not run in the context of a host's transaction.
    this.#unsubscribe = store.subscribe(hint => outside(() => this.#heed(hint)));
    this.#polling = this.#poller.run(this.#stopping.signal, this.#budget.signal);
    this.#maintaining = this.#maintenance.run(this.#stopping.signal);
    this.#scheduling = this.#scheduler.run(this.#stopping.signal);
    this.#renewing = this.#lease.run(this.#released.signal);
  }

  /** Never rejects: what could not be written is logged, and left to the recovery of the next start. */
  async close(): Promise<void> {
    const { drainTimeoutMs, abortGraceMs } = this.#options;
    const { clock, environment } = this.#host;
    const endsAt = clock.now() + microsOfMs(drainTimeoutMs + abortGraceMs);
    this.#stopping.abort();
    const timer = setTimeout(() => this.#budget.abort(), Math.min(drainTimeoutMs + abortGraceMs, longestTimerMs));

    if (!(await settlesWithin(this.#running.whenEmpty(), drainTimeoutMs))) {
      [...this.#running].forEach(run => run.abort('stopped'));
      await settlesWithin(this.#running.whenEmpty(), abortGraceMs);
    }
    const rest = this.#writeWhatIsLeft();
    // A handler may hold the only connection: then nothing can be written, and recovery decides.
    const leftMs = Math.max(0, endsAt - clock.now()) / 1000;
    if (!(await settlesWithin(rest, environment.isClosed ? 0 : leftMs + lastTryMs))) {
      this.#letGo();
    }
    clearTimeout(timer);
  }

  /** Whatever still hangs, nothing of the executor keeps the process alive. */
  #letGo(): void {
    const { environment, logger } = this.#host;
    const why = environment.isClosed ? 'its ORM was closed before it' : 'the executor stopped waiting for the database';
    logger.error(
      { event: 'stop_incomplete', executorId: this.#lease.executorId },
      `${why}; what it held is recovered by others, or by the next start`,
    );

    // Where it was closed, its budget isn't spent: what is tried again would be for ever.
    this.#budget.abort();
    this.#released.abort();
    this.#lease.letGo();
    this.#settler.letGo();
    void this.#unsubscribe();
  }

  async #writeWhatIsLeft(): Promise<void> {
    await this.#watcher.close([...this.#running, ...this.#interrupted.values()]);
    this.#giveUpRunning();

    await this.#polling;
    await this.#maintaining;
    await this.#scheduling;
    const recovered = await this.#recoverInterrupted();
    const unsettled = await this.#settler.close(this.#budget.signal);

    await this.#unsubscribe();
    this.#released.abort();
    await this.#renewing;
    await this.#lease.close();
    const { executorId } = this.#lease;
    this.#host.events.emit({ event: 'executor_stopped', executorId, recovered, unsettled });
  }

  async #claim(limit: number, lanes: readonly DueLane[] | null): Promise<ClaimAnswer> {
    return this.#lease.isHeld
      ? this.#host.store.claim({
          executorId: this.#lease.executorId,
          definitions: this.#handlers.definitions,
          queues: this.#options.queues,
          limit,
          ...(lanes !== null && { lanes }),
        })
      : { attempts: [], nextDueAt: null, isHeldBack: false };
  }

  #begin(attempt: Attempt): void {
    const { events } = this.#host;
    if (events.isHeard) {
      const { executorId } = this.#lease;
      events.emit({ event: 'attempt_started', ...eventAttempt(attempt), executorId, waitMs: waitMsOf(attempt) });
    }

    this.#runner.run(attempt).catch((error: unknown) => {
      const fields = { event: 'attempt_undecided', ...attemptFields(attempt), error };
      this.#host.logger.error(fields, 'the outcome of an attempt could not be decided; it stays running');
    });
    this.#watcher.watch();
  }

  #heedDue(lanes: readonly DueLane[] | undefined): void {
    const mine = lanes?.filter(
      lane => this.#handlers.has(lane) && (this.#options.queues?.includes(lane.queue) ?? true),
    );
    if (mine?.length !== 0) {
      this.#poller.wake(mine);
    }
  }

  #heed(hint: StoreHint): void {
    if (hint.kind === 'due') return this.#heedDue(hint.lanes);
    if (hint.kind === 'recurring') {
      return this.#scheduler.wake();
    }
    if (hint.kind === 'room') {
      return this.#poller.roomMade();
    }
    if (hint.kind === 'missed') {
      return this.#lookAtEverything();
    }

    const cancelled = this.#running.of(hint.key);
    cancelled.forEach(run => run.abort('cancelled'));
    if (cancelled.length === 0) {
      // It may be on its way here in the answer of a claim.
      this.#watcher.readStatusSoon();
    }
  }

  #lookAtEverything(): void {
    this.#poller.wake();
    this.#scheduler.wake();
    this.#maintenance.wake();
    this.#watcher.readStatusSoon();
  }

  #knows(token: string): boolean {
    return this.#running.has(token) || this.#settler.has(token) || this.#interrupted.has(token);
  }

  /** Whatever these handlers still do, their jobs are no longer theirs. */
  #giveUpRunning(): void {
    for (const run of [...this.#running]) {
      run.lose();
      run.end();
      this.#interrupted.set(run.token, run);
      this.#running.remove(run);
    }
  }

  async #recoverInterrupted(): Promise<number> {
    const { store, events, logger } = this.#host;
    const attempts = [...this.#interrupted.values()].map(run => run.attempt);

    try {
      const answers = await persist(() => recover(store, attempts, 'shutdown', events), this.#budget.signal);
      return answers.filter(isRecovered).length;
    } catch (error) {
      const fields = { event: 'recover_failed', executorId: this.#lease.executorId, attempts: attempts.length, error };
      logger.error(fields, 'interrupted jobs could not be recovered; the next start does it');
      return 0;
    }
  }
}
