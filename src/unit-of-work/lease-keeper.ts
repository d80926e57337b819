import type { Logger } from '../core/logger.ts';
import { microsOfMs, type Micros } from '../core/time.ts';
import type { UnitOfWorkDependencies } from './dependencies.ts';
import { MessageLostError } from './errors.ts';
import type { Receipt } from './receipt.ts';

interface LeaseKeeperDependencies extends Pick<UnitOfWorkDependencies<never>, 'clock' | 'delay'> {
  readonly logger: Logger;
  readonly leaseMs: number;
  /** Until when the message is held now, or null: it is held no more. */
  renew(receipt: Receipt): Promise<Micros | null>;
}

/**
 * Renews one receipt every third of its lease, beside work and never awaited by it. A renewal that fails is tried again;
 * the message is lost when a renewal says so, or when the lease's time is over without one.
 */
export class LeaseKeeper {
  readonly #dependencies: LeaseKeeperDependencies;
  readonly #receipt: Receipt;
  readonly #lost = new AbortController();
  readonly #stopped = new AbortController();
  #leaseUntil: Micros;
  #loop: Promise<void> = Promise.resolve();

  constructor(dependencies: LeaseKeeperDependencies, receipt: Receipt) {
    this.#dependencies = dependencies;
    this.#receipt = receipt;
    this.#leaseUntil = receipt.leaseUntil;
  }

  /** Aborted, with a MessageLostError, when the message is lost. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Begins no more renewals and declares nothing lost any more; doesn't wait. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Stops, and resolves when no query or timer is left. */
  async end(): Promise<void> {
    this.stop();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (await this.#nextTurn()) {
      // A renewal that hangs doesn't hold the message: the end of the lease is watched beside it.
      const lapse = new AbortController();
      const renewal = this.#renew();
      const lapsed = this.#lapsed(AbortSignal.any([lapse.signal, this.#stopped.signal]));

      await Promise.race([renewal, lapsed]);
      lapse.abort();
      await Promise.all([renewal, lapsed]);
    }
  }

  async #nextTurn(): Promise<boolean> {
    const isOver = () => this.#stopped.signal.aborted || this.#lost.signal.aborted;

    if (!isOver()) {
      await this.#pause(this.#dependencies.leaseMs / 3, this.#stopped.signal);
    }

    return !isOver();
  }

  async #renew(): Promise<void> {
    try {
      const until = await this.#dependencies.renew(this.#receipt);

      if (until === null) {
        this.#lose();
      } else {
        this.#leaseUntil = until;
      }
    } catch (error) {
      const { messageId, consumer } = this.#receipt;
      this.#dependencies.logger.warn(
        { event: 'message_renewal_failed', messageId, consumer, error },
        'A renewal of a message failed and is tried again; the message is lost when its lease lapses.',
      );
    }
  }

  async #lapsed(signal: AbortSignal): Promise<void> {
    for (;;) {
      const left = this.#leaseUntil - this.#dependencies.clock.now();
      if (left <= 0) {
        return this.#lose();
      }
      await this.#pause(left / microsOfMs(1), signal);
      if (signal.aborted) {
        return;
      }
    }
  }

  #lose(): void {
    if (!this.#stopped.signal.aborted) {
      this.#lost.abort(new MessageLostError(this.#receipt.messageId, this.#receipt.consumer));
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#dependencies.delay(ms, signal);
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
    }
  }
}
