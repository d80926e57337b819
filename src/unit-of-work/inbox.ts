import type { EntityManager } from '@mikro-orm/core';
import { randomUUID } from 'node:crypto';
import { TransactionRequiredError } from '../core/errors.ts';
import { inboxDifferences, MessageContractError, type Delivery } from '../core/message.ts';
import { microsOfMs, type Micros } from '../core/time.ts';
import type { UnitOfWorkDependencies } from './dependencies.ts';
import { MessageRefusedError } from './errors.ts';
import type { Acquired, Receipt } from './receipt.ts';
import { completeReceipt } from './sql/complete-receipt.ts';
import { failReceipt } from './sql/fail-receipt.ts';
import { insertReceipt } from './sql/insert-receipt.ts';
import { postponeReceipt } from './sql/postpone-receipt.ts';
import { readReceipt, type StoredReceipt } from './sql/read-receipt.ts';
import { reclaimReceipt } from './sql/reclaim-receipt.ts';
import { renewReceipt } from './sql/renew-receipt.ts';

const maxTries = 3;

/** The receipts of messages. Each move is one conditional statement; all but the completion are outside of any transaction. */
export class Inbox<Em extends EntityManager> {
  readonly #dependencies: Pick<UnitOfWorkDependencies<Em>, 'fork' | 'retry' | 'clock'>;
  readonly #leaseMs: number;

  constructor(dependencies: Pick<UnitOfWorkDependencies<Em>, 'fork' | 'retry' | 'clock'>, leaseMs: number) {
    this.#dependencies = dependencies;
    this.#leaseMs = leaseMs;
  }

  /** @throws MessageContractError when the id was received with another contract or content; the receipt is unchanged */
  async acquire(delivery: Delivery): Promise<Acquired> {
    // A row that is in the way of the insert and gone from the read was deleted in between.
    for (let tries = 0; tries < maxTries; tries++) {
      const receipt = await this.#take(delivery);
      if (receipt !== null) {
        return { answer: 'acquired', receipt };
      }

      const stored = await readReceipt(this.#dependencies.fork(), delivery);
      if (stored !== null) {
        return answerFor(stored, delivery, this.#now());
      }
    }

    throw new MessageRefusedError(delivery.messageId, 'inbox');
  }

  /** Until when the message is held now, or null: it is held no more. */
  async renew(receipt: Receipt): Promise<Micros | null> {
    const now = this.#now();
    const until = now + microsOfMs(this.#leaseMs);

    return (await this.#write(em => renewReceipt(em, receipt, now, until))) ? until : null;
  }

  /** In the transaction that holds what was done for the message, as its last statement. False: roll it back. */
  complete(em: EntityManager, receipt: Receipt): Promise<boolean> {
    if (!em.isInTransaction()) {
      throw new TransactionRequiredError(
        'Completing a message',
        'it commits together with what was done for the message.',
      );
    }

    return completeReceipt(em, receipt, this.#now());
  }

  /** Counts a failure; without a next attempt the message is dead-lettered. False: the message is held no more. */
  fail(receipt: Receipt, error: string, nextAttemptAt: Micros | null): Promise<boolean> {
    const now = this.#now();

    return this.#write(em => failReceipt(em, receipt, { error, nextAttemptAt, now }));
  }

  /** Lets go of the message, no failure. False: it was held no more. */
  postpone(receipt: Receipt, nextAttemptAt: Micros): Promise<boolean> {
    const now = this.#now();

    return this.#write(em => postponeReceipt(em, receipt, nextAttemptAt, now));
  }

  async #take(delivery: Delivery): Promise<Receipt | null> {
    const now = this.#now();
    const lease = { token: randomUUID(), now, until: now + microsOfMs(this.#leaseMs) };
    const failureCount = (await this.#write(em => insertReceipt(em, delivery, lease)))
      ? 0
      : await this.#write(em => reclaimReceipt(em, delivery, lease));
    const { messageId, consumer } = delivery;

    return failureCount === null
      ? null
      : { messageId, consumer, token: lease.token, leaseUntil: lease.until, failureCount };
  }

  #write<T>(statement: (em: Em) => Promise<T>): Promise<T> {
    return this.#dependencies.retry(() => statement(this.#dependencies.fork()));
  }

  #now(): Micros {
    return this.#dependencies.clock.now();
  }
}

function answerFor(stored: StoredReceipt, delivery: Delivery, now: Micros): Acquired {
  const differences = inboxDifferences(stored, delivery);
  if (differences.length > 0) {
    throw new MessageContractError(delivery.messageId, 'inbox', differences);
  }

  switch (stored.state) {
    case 'processed':
      return { answer: 'already_processed' };
    case 'dead_lettered':
      return { answer: 'dead_lettered' };
    case 'processing':
    case 'failed':
      return { answer: 'busy', until: stored.leaseUntil ?? stored.nextAttemptAt ?? now };
  }
}
