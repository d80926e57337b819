import type { Progress } from '../core/attempt.ts';
import type { EventStream } from '../core/event-stream.ts';
import type { ResolvedExecutorOptions } from '../core/executor-options.ts';
import type { AttemptStatus, JobStore } from '../core/store.ts';
import { eventAttempt } from './attempt-fields.ts';
import { Health } from './health.ts';
import type { RunningAttempt } from './running-attempt.ts';
import type { RunningAttempts } from './running-attempts.ts';
import { sleep } from './sleep.ts';

/**
 * Tells the store how far the running attempts are, and the attempts what the store knows of them: that a cancel was
 * requested, or that they lost their job. Ticks only while something runs.
 */
export class AttemptWatcher {
  readonly #store: Pick<JobStore, 'progress' | 'status'>;
  readonly #running: RunningAttempts;
  readonly #events: Pick<EventStream, 'emit' | 'isHeard'>;
  readonly #tickMs: number;
  readonly #ticksPerStatus: number;
  readonly #closing = new AbortController();
  readonly #progressHealth: Health;
  readonly #statusHealth: Health;
  #watching: Promise<void> | null = null;
  #isStatusWanted = false;

  constructor(
    store: Pick<JobStore, 'progress' | 'status'>,
    running: RunningAttempts,
    { progressIntervalMs, renewEveryMs, leaseMs }: ResolvedExecutorOptions,
    events: Pick<EventStream, 'emit' | 'isHeard'>,
  ) {
    this.#store = store;
    this.#running = running;
    this.#events = events;
    this.#tickMs = progressIntervalMs;
    // With a lease, its renewals tell.
    this.#ticksPerStatus = leaseMs === null ? Math.floor(renewEveryMs / progressIntervalMs) : Infinity;
    this.#progressHealth = new Health('progress', events);
    this.#statusHealth = new Health('status', events);
  }

  /** To be called when an attempt begins. */
  watch(): void {
    this.#watching ??= this.#tickWhileRunning();
  }

  /** Heeds what a renewal told of an attempt. */
  heed(token: string, status: AttemptStatus): void {
    const run = this.#running.get(token);
    if (run !== undefined) {
      this.#heed(run, status);
    }
  }

  /** Reads the status of all running attempts with the next tick. */
  readStatusSoon(): void {
    this.#isStatusWanted = true;
  }

  /** Ends the ticks and sends the last progress of attempts that no settlement will carry. */
  async close(unsettled: readonly RunningAttempt[]): Promise<void> {
    this.#closing.abort();
    await this.#watching;
    await this.#reportProgress(unsettled);
  }

  async #tickWhileRunning(): Promise<void> {
    for (let tick = 1; this.#running.size > 0 && !this.#closing.signal.aborted; tick++) {
      await sleep(this.#tickMs, this.#closing.signal);
      if (!this.#closing.signal.aborted) {
        await this.#tick(tick);
      }
    }
    this.#watching = null;
  }

  async #tick(tick: number): Promise<void> {
    await this.#reportProgress(this.#open());

    if (this.#isStatusWanted || tick % this.#ticksPerStatus === 0) {
      this.#isStatusWanted = false;
      await this.#readStatus();
    }
  }

  #open(): RunningAttempt[] {
    return [...this.#running].filter(run => !run.isOver && !run.wasAborted('lost'));
  }

  async #reportProgress(runs: readonly RunningAttempt[]): Promise<void> {
    const changed = runs.flatMap(run => {
      const progress = run.progress.unsent;
      return progress === null ? [] : [{ run, progress }];
    });
    if (changed.length === 0) {
      return;
    }

    try {
      const answers = await this.#store.progress(changed.map(({ run, progress }) => ({ ...run.ref, ...progress })));
      changed.forEach(({ run, progress }) => run.progress.markSent(progress));
      answers.forEach(({ status, written }, index) => {
        const { run, progress } = changed[index]!;
        if (written) {
          this.#tellProgressed(run, progress);
        }
        this.#heed(run, status);
      });
      this.#progressHealth.worked();
    } catch (error) {
      this.#progressHealth.failed(error);
    }
  }

  #tellProgressed({ attempt }: RunningAttempt, { value, message }: Progress): void {
    if (this.#events.isHeard) {
      this.#events.emit({ event: 'attempt_progressed', ...eventAttempt(attempt), progress: value, message });
    }
  }

  async #readStatus(): Promise<void> {
    const runs = this.#open();
    if (runs.length === 0) {
      return;
    }

    try {
      const statuses = await this.#store.status(runs.map(run => run.ref));
      statuses.forEach((status, index) => this.#heed(runs[index]!, status));
      this.#statusHealth.worked();
    } catch (error) {
      this.#statusHealth.failed(error);
    }
  }

  #heed(run: RunningAttempt, status: AttemptStatus): void {
    switch (status) {
      case 'active':
        return;
      case 'cancel_requested':
        run.abort('cancelled');
        return;
      case 'ended':
        return this.#lose(run);
    }
  }

  /** An attempt that has ended by itself since it was asked about is not lost. */
  #lose(run: RunningAttempt): void {
    if (!run.isOver && !run.isSettling && !run.wasAborted('lost')) {
      run.lose();
      this.#events.emit({ event: 'attempt_lost', ...eventAttempt(run.attempt) });
    }
  }
}
