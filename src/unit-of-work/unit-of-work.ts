import { IsolationLevel, type EntityManager } from '@mikro-orm/core';
import { AsyncLocalStorage } from 'node:async_hooks';
import { CreationClock } from '../core/clock.ts';
import { errorText } from '../core/error-text.ts';
import { AmbientTransactionError } from '../core/errors.ts';
import { checkedDelivery, type Delivery, type Message } from '../core/message.ts';
import { dateOf, microsOfMs, type Micros } from '../core/time.ts';
import type { Consumed } from './consumed.ts';
import type { UnitOfWorkDependencies } from './dependencies.ts';
import { MessageLostError, UnitRolledBackError } from './errors.ts';
import { Frame } from './frame.ts';
import { Inbox } from './inbox.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { resolveUnitOfWorkOptions, type ResolvedUnitOfWorkOptions } from './options.ts';
import type { Acquired, Receipt } from './receipt.ts';
import { RunningUnit, type LastWrite } from './running-unit.ts';
import type { Unit } from './unit.ts';
import { verdictFor, type Verdict } from './verdict.ts';

export interface ExecuteOptions {
  /** Aborted before the commit, it rolls everything back. */
  readonly signal?: AbortSignal;
}

/**
 * Runs pieces of work, each as one transaction of its own: what it writes through its EntityManager, the jobs that it stages,
 * the messages that it sends, and the receipt of the message that it handles. One instance serves a whole application;
 * each execute makes a unit of its own.
 */
export class UnitOfWork<Em extends EntityManager> {
  readonly #dependencies: UnitOfWorkDependencies<Em>;
  readonly #options: ResolvedUnitOfWorkOptions;
  readonly #inbox: Inbox<Em>;
  readonly #creationClock: CreationClock;
  readonly #frames = new AsyncLocalStorage<Frame<Em>>();

  /** @throws InvalidOptionError */
  constructor(dependencies: UnitOfWorkDependencies<Em>) {
    this.#dependencies = dependencies;
    this.#options = resolveUnitOfWorkOptions(dependencies.options);
    this.#inbox = new Inbox(dependencies, this.#options.leaseMs);
    this.#creationClock = new CreationClock(dependencies.clock);
  }

  /**
   * Opens a transaction (READ COMMITTED), gives work its unit, flushes once when work has returned, writes the outgoing
   * messages and commits. Rejects with work's error, and nothing of it is stored.
   *
   * Inside of work, execute joins: the same transaction, no savepoint. When the inner one fails, the outer one is rolled back,
   * even if the error is caught. Two inner ones at once are refused.
   *
   * @throws AmbientTransactionError inside a transaction that no unit of work opened
   * @throws UnitRolledBackError when work returned after a failure that it had caught
   */
  execute<T>(work: (unit: Unit<Em>) => Promise<T>, { signal }: ExecuteOptions = {}): Promise<T> {
    const outer = this.#frames.getStore();

    return outer === undefined || outer.hasUnitEnded
      ? this.#transaction('unitOfWork.execute()', work, allOf(signal), nothingMore)
      : outer.join(allOf(outer.signal, signal), frame => this.#frames.run(frame, () => work(frame.unit)));
  }

  /**
   * Handles a message once for a consumer: work's transaction holds the completion of the message's receipt, so a
   * redelivery finds either both or neither. Work that fails doesn't make it throw: the answer says what to tell the broker.
   *
   * Throws when it was called wrongly, when the database can't say whether the message may be handled, and when it can't take
   * down a failure (the message then becomes free when its lease lapses). Requeue the delivery.
   *
   * @throws InvalidMessageError before anything is sent
   * @throws AmbientTransactionError inside a transaction, also inside a unit of work
   * @throws MessageContractError when the id was received with another name, version or content; reject the delivery
   */
  async consume(
    message: Message,
    consumer: string,
    work: (unit: Unit<Em>) => Promise<void>,
    { signal }: ExecuteOptions = {},
  ): Promise<Consumed> {
    const delivery = checkedDelivery(message, consumer);
    this.#refuseTransaction('unitOfWork.consume()');

    const acquired = await this.#acquire(delivery, allOf(signal));

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
        return this.#process(acquired.receipt, work, allOf(signal));
    }
  }

  async #transaction<T>(
    operation: string,
    work: (unit: Unit<Em>) => Promise<T>,
    signal: AbortSignal,
    lastWrite: LastWrite<Em>,
  ): Promise<T> {
    signal.throwIfAborted();
    this.#refuseTransaction(operation);
    let unit: RunningUnit<Em> | undefined;
    let isCommitted = false;

    try {
      const result = await this.#dependencies.fork().transactional(em => {
        unit = new RunningUnit(em as unknown as Em, signal, this.#creationClock, lastWrite);
        const frame = new Frame(unit, signal, (own, submissions) => this.#dependencies.stage(own, submissions));

        return unit.work(() => this.#frames.run(frame, () => work(frame.unit)));
      }, this.#transactionOptions());
      isCommitted = unit!.isComplete;
      if (!isCommitted) {
        throw new UnitRolledBackError('its transaction had been ended by something else');
      }

      return result;
    } catch (error) {
      throw unit?.hasReturned && isAbortedTransaction(error)
        ? new UnitRolledBackError('a statement had failed', { cause: error })
        : error;
    } finally {
      unit?.end(isCommitted);
    }
  }

  #refuseTransaction(operation: string): void {
    if (this.#frames.getStore()?.hasUnitEnded === false) {
      throw new AmbientTransactionError(
        operation,
        'A unit of work opens its own transaction: call it outside of another.',
      );
    }

    this.#dependencies.refuseAmbientTransaction(operation);
  }

  /** SQLite has no levels, and MikroORM 6 warns when it is given one. */
  #transactionOptions(): { isolationLevel?: IsolationLevel } {
    return this.#dependencies.dialect === 'postgresql' ? { isolationLevel: IsolationLevel.READ_COMMITTED } : {};
  }

  /** Null: the caller's signal was aborted. */
  async #acquire(delivery: Delivery, signal: AbortSignal): Promise<Acquired | null> {
    const { clock } = this.#dependencies;
    const { busyWaitMs, busyCheckEveryMs } = this.#options;
    const giveUpAt = clock.now() + microsOfMs(busyWaitMs);

    while (!signal.aborted) {
      const acquired = await this.#inbox.acquire(delivery);
      if (acquired.answer !== 'busy' || clock.now() + microsOfMs(busyCheckEveryMs) > giveUpAt) {
        return acquired;
      }

      await this.#dependencies.delay(busyCheckEveryMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }

    return null;
  }

  async #process(receipt: Receipt, work: (unit: Unit<Em>) => Promise<void>, signal: AbortSignal): Promise<Consumed> {
    const keeper = this.#keep(receipt);
    const complete: LastWrite<Em> = async em => {
      keeper.stop();
      if (!(await this.#inbox.complete(em, receipt))) {
        throw new MessageLostError(receipt.messageId, receipt.consumer);
      }
      return true;
    };

    try {
      await this.#transaction('unitOfWork.consume()', work, allOf(signal, keeper.signal), complete);

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
const nothingMore = async (): Promise<boolean> => false;

function allOf(...signals: ReadonlyArray<AbortSignal | undefined>): AbortSignal {
  return AbortSignal.any(signals.filter(signal => signal !== undefined));
}

/** PostgreSQL's answer to every statement after one that failed. */
function isAbortedTransaction(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '25P02';
}
