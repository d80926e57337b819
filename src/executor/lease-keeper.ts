import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../core/clock.ts';
import type { EventStream } from '../core/event-stream.ts';
import type { ResolvedExecutorOptions } from '../core/executor-options.ts';
import type { Logger } from '../core/logger.ts';
import type { JobStore, RenewAnswer } from '../core/store.ts';
import { microsOfMs, type Micros } from '../core/time.ts';
import { BackOff } from './back-off.ts';
import { Health } from './health.ts';
import { liveExecutors } from './live-executors.ts';
import { longestTimerMs, sleep } from './sleep.ts';

/** A lease must not be lost to a database that is back: it is asked for more often than a renewal is due. */
const longestRetryMs = 2000;

export interface LeaseKeeperParts {
  readonly store: Pick<JobStore, 'register' | 'renew' | 'retire'>;
  readonly options: ResolvedExecutorOptions;
  /** Definitions, queues and concurrency, for people. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What runs now, by token: a renewal can only tell of what was there when it began. */
  readonly runningTokens: () => string[];
  /** The statuses of what ran when the renewal began; what the store doesn't know of any more is `ended`. */
  readonly heed: (token: string, status: 'active' | 'cancel_requested' | 'ended') => void;
  /** Everything that runs is lost. */
  readonly onLost: () => void;
  /** Jobs may be started again. */
  readonly onHeld: () => void;
  /** The database answers again. */
  readonly onBack: () => void;
  readonly clock: Clock;
  readonly events: Pick<EventStream, 'emit'>;
  readonly logger: Logger;
}

/**
 * An executor's registration and, unless it has none, its lease: one row, renewed for all that it runs. A renewal that fails is
 * tried again and loses nothing before the lease's time is over. One that was lost is never taken up again: everything under it
 * is given up, and the executor registers anew.
 */
export class LeaseKeeper {
  readonly #parts: LeaseKeeperParts;
  readonly #health: Health;
  readonly #backOff: BackOff;
  #executorId: string = randomUUID();
  #leaseUntil: Micros | null = null;
  #isHeld = false;
  #pauseMs: number;
  /** Fires when the lease's time is over, also while a renewal hangs. */
  #expiry: NodeJS.Timeout | undefined;

  constructor(parts: LeaseKeeperParts) {
    this.#parts = parts;
    this.#health = new Health('renew', parts.events);
    this.#backOff = new BackOff(200, Math.min(longestRetryMs, parts.options.renewEveryMs));
    this.#pauseMs = parts.options.renewEveryMs;
  }

  get executorId(): string {
    return this.#executorId;
  }

  /** Whether jobs may be started: not while the lease is lost and the executor not yet registered anew. */
  get isHeld(): boolean {
    return this.#isHeld && !this.#isOver();
  }

  async open(): Promise<void> {
    const { store, options, metadata } = this.#parts;
    const executorId = randomUUID();
    const leaseUntil = this.#nextLease();

    liveExecutors.add(executorId);
    this.#executorId = executorId;
    await store.register({ id: executorId, name: options.name, host: hostname(), leaseUntil, metadata });
    this.#isHeld = true;
    this.#holdUntil(leaseUntil);
  }

  /** Renews until the signal is aborted. Never rejects. */
  async run(ended: AbortSignal): Promise<void> {
    if (this.#parts.options.leaseMs === null) {
      return;
    }

    while (!ended.aborted) {
      await sleep(this.#pauseMs, ended);
      if (!ended.aborted) {
        await this.#turn();
      }
    }
  }

  /** What still hangs goes on; nothing else does. */
  letGo(): void {
    this.#isHeld = false;
    clearTimeout(this.#expiry);
  }

  /** What is left under this registration is nobody's any more. Logs instead of rejecting. */
  async close(): Promise<void> {
    this.letGo();

    try {
      await this.#retire();
    } catch (error) {
      const fields = { event: 'retire_failed', executorId: this.#executorId, error };
      this.#parts.logger.warn(fields, 'an executor has stopped but is still listed as active');
    }
  }

  async #turn(): Promise<void> {
    try {
      await (this.#isHeld ? this.#renew() : this.#registerAnew());
      if (this.#backOff.hasFailed) {
        this.#parts.onBack();
      }
      this.#backOff.reset();
      this.#pauseMs = this.#parts.options.renewEveryMs;
      this.#health.worked();
    } catch (error) {
      this.#pauseMs = this.#backOff.next();
      this.#health.failed(error);
    }
  }

  async #renew(): Promise<void> {
    const known = this.#parts.runningTokens();
    const leaseUntil = this.#nextLease()!;
    const answer = await this.#parts.store.renew(this.#executorId, leaseUntil);

    // An answer that came after the time was over tells nothing: others may have taken it for dead since.
    if (answer.answer === 'lapsed' || !this.isHeld) {
      this.#lose();
      return this.#registerAnew();
    }

    this.#holdUntil(leaseUntil);
    this.#heed(known, answer);
  }

  #heed(known: readonly string[], { attempts }: Extract<RenewAnswer, { answer: 'renewed' }>): void {
    const statuses = new Map(attempts.map(({ token, status }) => [token, status]));
    known.forEach(token => this.#parts.heed(token, statuses.get(token) ?? 'ended'));
  }

  #holdUntil(leaseUntil: Micros | null): void {
    this.#leaseUntil = leaseUntil;
    clearTimeout(this.#expiry);
    if (leaseUntil !== null) {
      const leftMs = (leaseUntil - this.#parts.clock.now()) / 1000 - this.#parts.options.clockSkewMs;
      this.#expiry = setTimeout(
        // Not over when the clock was set back meanwhile, or where no timer is as long as the lease.
        () => (this.#isOver() ? this.#lose() : this.#holdUntil(leaseUntil)),
        Math.min(Math.max(leftMs, 0) + 1, longestTimerMs),
      );
    }
  }

  /** Never to be taken up again: what was given up under this registration must not come back to life. */
  #lose(): void {
    if (!this.#isHeld) {
      return;
    }

    this.#isHeld = false;
    this.#parts.events.emit({ event: 'lease_lost', executorId: this.#executorId });
    this.#parts.onLost();
  }

  async #registerAnew(): Promise<void> {
    await this.#retire();
    await this.open();
    this.#parts.onHeld();
  }

  /** What is left under this registration is recovered by whoever finds it. */
  async #retire(): Promise<void> {
    liveExecutors.delete(this.#executorId);
    await this.#parts.store.retire(this.#executorId);
  }

  #nextLease(): Micros | null {
    const { clock, options } = this.#parts;
    return options.leaseMs === null ? null : clock.now() + microsOfMs(options.leaseMs);
  }

  /** Early by the skew: whoever declares it dead may have a clock that is ahead. */
  #isOver(): boolean {
    const { clock, options } = this.#parts;
    return this.#leaseUntil !== null && this.#leaseUntil - microsOfMs(options.clockSkewMs) <= clock.now();
  }
}
