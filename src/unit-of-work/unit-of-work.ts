import type { EntityManager } from '@mikro-orm/core';
import type { Message } from '../core/message.ts';
import { InvalidOptionError } from '../core/errors.ts';
import { checkKnown } from '../core/known-options.ts';
import type { Consumed } from './consumed.ts';
import type { UnitOfWorkDependencies } from './dependencies.ts';
import { MessageConsumer } from './message-consumer.ts';
import { resolveUnitOfWorkOptions } from './options.ts';
import type { Unit } from './unit.ts';
import { UnitTransactions } from './unit-transactions.ts';

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
  readonly #transactions: UnitTransactions<Em>;
  readonly #consumer: MessageConsumer<Em>;

  /** @throws InvalidOptionError */
  constructor(dependencies: UnitOfWorkDependencies<Em>) {
    this.#transactions = new UnitTransactions(dependencies);
    this.#consumer = new MessageConsumer(
      dependencies,
      this.#transactions,
      resolveUnitOfWorkOptions(dependencies.options),
    );
  }

  /**
   * Opens a transaction (READ COMMITTED), gives work its unit, flushes once when work has returned, writes the outgoing
   * messages and commits. Rejects with work's error, and nothing of it is stored.
   *
   * Inside of work, execute joins: the same transaction, no savepoint. When the inner one fails, the outer one is rolled back,
   * even if the error is caught. Two inner ones at once are refused.
   *
   * @throws InvalidOptionError before anything is sent
   * @throws AmbientTransactionError inside a transaction that no unit of work opened
   * @throws ConnectionTimeoutError when there was no connection to be had
   * @throws UnitRolledBackError when work returned after a failure that it had caught
   */
  async execute<T>(work: (unit: Unit<Em>) => Promise<T>, options?: ExecuteOptions): Promise<T> {
    checkWork(work);
    const signal = signalOf(options);

    return this.#transactions.joinOrOpen('unitOfWork.execute()', work, signal);
  }

  /**
   * Handles a message once for a consumer: work's transaction holds the completion of the message's receipt, so a
   * redelivery finds either both or neither. Work that fails doesn't make it throw: the answer says what to tell the broker.
   *
   * Throws when it was called wrongly, when the database can't say whether the message may be handled, and when it can't take
   * down a failure (the message then becomes free when its lease lapses). Requeue the delivery.
   *
   * @throws InvalidMessageError, InvalidOptionError before anything is sent
   * @throws AmbientTransactionError inside a transaction, also inside a unit of work
   * @throws MessageContractError when the id was received with another name, version or content; reject the delivery
   */
  async consume(
    message: Message,
    consumer: string,
    work: (unit: Unit<Em>) => Promise<void>,
    options?: ExecuteOptions,
  ): Promise<Consumed> {
    checkWork(work);
    const signal = signalOf(options);

    return this.#consumer.consume('unitOfWork.consume()', message, consumer, work, signal);
  }
}

/** Before anything is written: a receipt would be held until its lease lapses. */
function checkWork(work: unknown): void {
  if (typeof work !== 'function') {
    throw new InvalidOptionError('work', 'be a function that is given the unit', work);
  }
}

function signalOf(options: ExecuteOptions = {}): AbortSignal | undefined {
  const { signal } = checkKnown(options, ['signal']);
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function') {
    throw new InvalidOptionError('signal', 'be an AbortSignal', signal);
  }

  return signal;
}
