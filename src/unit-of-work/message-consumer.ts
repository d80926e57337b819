import type { EntityManager } from '@mikro-orm/core';
import { begunWithin } from '../core/begun-within.ts';
import { errorText } from '../core/error-text.ts';
import { checkedDelivery, type Delivery, type Message } from '../core/message.ts';
import { dateOf, microsOfMs, type Micros } from '../core/time.ts';
import { allOf } from './all-of.ts';
import type { Consumed } from './consumed.ts';
import { connectionLimit, type UnitOfWorkDependencies } from './dependencies.ts';
import { MessageLostError } from './errors.ts';
import { Inbox } from './inbox.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import type { ResolvedUnitOfWorkOptions } from './options.ts';
import type { Acquired, Receipt } from './receipt.ts';
import type { LastWrite } from './running-unit.ts';
import type { Unit } from './unit.ts';
import type { UnitTransactions } from './unit-transactions.ts';
import { verdictFor, type Verdict } from './verdict.ts';

type Work<Em> = (unit: Unit<Em>) => Promise<void>;

/** Takes a message, has it handled in a unit that ends with its receipt's completion, and takes down what became of it. */
export class MessageConsumer<Em extends EntityManager> {
  readonly #dependencies: UnitOfWorkDependencies<Em>;
  readonly #transactions: UnitTransactions<Em>;
  readonly #options: ResolvedUnitOfWorkOptions;
  readonly #inbox: Inbox<Em>;

  constructor(
    dependencies: UnitOfWorkDependencies<Em>,
    transactions: UnitTransactions<Em>,
    options: ResolvedUnitOfWorkOptions,
  ) {
    this.#dependencies = dependencies;
    this.#transactions = transactions;
    this.#options = options;
    this.#inbox = new Inbox(dependencies, options.leaseMs);
  }

  async consume(
    operation: string,
    message: Message,
    consumer: string,
    work: Work<Em>,
    given: AbortSignal | undefined,
  ): Promise<Consumed> {
    const delivery = checkedDelivery(message, consumer);
    this.#transactions.refuseTransaction(operation);

    const signal = allOf(given);
    const acquired = await this.#acquire(operation, delivery, signal);

    switch (acquired?.answer) {
      case undefined:
        return { outcome: 'aborted', reply: 'requeue' };
      case 'already_processed':
        return { outcome: 'already_processed', reply: 'ack' };
      case 'dead_lettered':
        return { outcome: 'dead_lettered', reply: 'reject' };
      case 'busy':
        return { outcome: 'busy', reply: 'requeue', retryAt: dateOf(acquired.until) };
      case 'acquired':
        return this.#process(operation, acquired.receipt, work, signal);
    }
  }

  /** Null: the caller's signal was aborted. */
  async #acquire(operation: string, delivery: Delivery, signal: AbortSignal): Promise<Acquired | null> {
    const { clock } = this.#dependencies;
    const { busyWaitMs, busyCheckEveryMs } = this.#options;
    const giveUpAt = clock.now() + microsOfMs(busyWaitMs);

    while (!signal.aborted) {
      const acquired = await begunWithin(connectionLimit(this.#dependencies, operation), () =>
        this.#inbox.acquire(delivery),
      );
      if (acquired.answer !== 'busy' || clock.now() + microsOfMs(busyCheckEveryMs) > giveUpAt) {
        return acquired;
      }

      await this.#dependencies.delay(busyCheckEveryMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }

    return null;
  }

  async #process(operation: string, receipt: Receipt, work: Work<Em>, signal: AbortSignal): Promise<Consumed> {
    const keeper = this.#keep(receipt);
    const complete: LastWrite<Em> = async em => {
      keeper.stop();
      if (!(await this.#inbox.complete(em, receipt))) {
        throw new MessageLostError(receipt.messageId, receipt.consumer);
      }
      return true;
    };

    try {
      await this.#transactions.open(operation, work, allOf(signal, keeper.signal), complete);

      return { outcome: 'processed', reply: 'ack' };
    } catch (error) {
      // Failed, the delivery still holds its message until that is taken down; lost, it writes nothing any more.
      return keeper.signal.aborted || error instanceof MessageLostError
        ? lost
        : await this.#afterFailure(receipt, error, signal);
    } finally {
      await keeper.end();
    }
  }

  #keep(receipt: Receipt): LeaseKeeper {
    const { clock, logger } = this.#dependencies;
    const keeper = new LeaseKeeper(
      {
        clock,
        logger,
        leaseMs: this.#options.leaseMs,
        delay: (ms, signal) => this.#dependencies.delay(ms, signal),
        renew: held => this.#inbox.renew(held),
      },
      receipt,
    );
    // Work's transaction has SQLite's only connection: a renewal would wait for its end, and then renew nothing.
    if (this.#dependencies.dialect !== 'sqlite') {
      keeper.start();
    }

    return keeper;
  }

  async #afterFailure(receipt: Receipt, error: unknown, signal: AbortSignal): Promise<Consumed> {
    const now = this.#dependencies.clock.now();
    const verdict: Verdict | Aborted = signal.aborted
      ? { kind: 'aborted', nextAttemptAt: now }
      : verdictFor(error, receipt.failureCount, this.#options, now, this.#dependencies.random());

    if (!(await this.#record(receipt, verdict, error))) {
      return lost;
    }

    switch (verdict.kind) {
      case 'aborted':
        return { outcome: 'aborted', reply: 'requeue' };
      case 'snoozed':
        return { outcome: 'snoozed', reply: 'requeue', retryAt: dateOf(verdict.nextAttemptAt) };
      case 'failed':
        return { outcome: 'failed', reply: 'requeue', retryAt: dateOf(verdict.nextAttemptAt), error };
      case 'dead_lettered':
        return { outcome: 'dead_lettered', reply: 'reject', error };
    }
  }

  /** False: the message is held no more. */
  async #record(receipt: Receipt, verdict: Verdict | Aborted, error: unknown): Promise<boolean> {
    try {
      switch (verdict.kind) {
        case 'aborted':
        case 'snoozed':
          return await this.#inbox.postpone(receipt, verdict.nextAttemptAt);
        case 'failed':
          return await this.#inbox.fail(receipt, errorText(error), verdict.nextAttemptAt);
        case 'dead_lettered':
          return await this.#inbox.fail(receipt, errorText(error), null);
      }
    } catch (failure) {
      const { messageId, consumer } = receipt;
      this.#dependencies.logger.error(
        { event: 'message_failure_not_recorded', messageId, consumer, error },
        "Work for a message failed and that couldn't be taken down; the message becomes free when its lease lapses.",
      );
      throw failure;
    }
  }
}

interface Aborted {
  readonly kind: 'aborted';
  readonly nextAttemptAt: Micros;
}

const lost: Consumed = Object.freeze({ outcome: 'lost', reply: 'requeue' });
