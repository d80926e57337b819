import type { EntityManager } from '@mikro-orm/core';
import type { CreationClock } from '../core/clock.ts';
import type { Message, OutboxOptions } from '../core/message.ts';
import { TransactionRequiredError } from '../core/errors.ts';
import { UnitControlError, UnitRolledBackError } from './errors.ts';
import { PendingMessages } from './pending-messages.ts';
import { run } from './run.ts';
import { TransactionGuard } from './transaction-guard.ts';

/**
 * Writes what belongs to the transaction and has to come last. Answers whether it sent a statement; rejects to roll back.
 */
export type LastWrite<Em> = (em: Em) => Promise<boolean>;

/** One transaction, from its begin to its end; the executes that join it share this. */
export class RunningUnit<Em extends EntityManager> {
  readonly em: Em;
  readonly #signal: AbortSignal;
  readonly #lastWrite: LastWrite<Em>;
  readonly #messages: PendingMessages;
  readonly #guard: TransactionGuard;
  readonly #transaction: unknown;
  readonly #calls = new Set<Promise<unknown>>();
  #failure: { readonly cause: unknown } | null = null;
  #phase: 'working' | 'saving' | 'committing' | 'ended' = 'working';
  #hasReturned = false;
  #isComplete = false;

  constructor(em: Em, signal: AbortSignal, clock: CreationClock, lastWrite: LastWrite<Em>) {
    if (!em.isInTransaction()) {
      throw new TransactionRequiredError('A unit of work', 'transactions are disabled in this ORM.');
    }

    this.em = em;
    this.#signal = signal;
    this.#lastWrite = lastWrite;
    this.#messages = new PendingMessages(clock);
    this.#transaction = em.getTransactionContext();
    this.#guard = new TransactionGuard(this);
    // A transaction's EntityManager has its own event manager, so the guard is gone with it.
    em.getEventManager().registerSubscriber(this.#guard);
  }

  get isWorking(): boolean {
    return this.#phase === 'working';
  }

  /** Whether jobs and messages can still be added: also by hooks of the last flush. */
  get isOpen(): boolean {
    return this.#phase === 'working' || this.#phase === 'saving';
  }

  get hasEnded(): boolean {
    return this.#phase === 'ended';
  }

  /** Whether work has returned, with nothing against the commit. */
  get hasReturned(): boolean {
    return this.#hasReturned;
  }

  /** Whether everything was written, and only the COMMIT was left to do. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Makes the unit rollback-only, whatever becomes of the error; the first one is the cause. */
  fail(cause: unknown): void {
    this.#failure ??= { cause };
  }

  addMessage(message: Message, options?: OutboxOptions): void {
    this.#messages.add(message, options);
  }

  /** Makes a call of work's part of the unit: it is waited for, and its failure fails the unit, awaited by work or not. */
  attempt<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#attempt(call);
    const settled = result.then(nothing, nothing).finally(() => this.#calls.delete(settled));
    this.#calls.add(settled);

    return result;
  }

  /** Runs work; when it resolves, the EntityManager may be flushed and the transaction committed. */
  async work<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      await this.#callsEnd();
      this.#check();
      this.#hasReturned = true;

      return result;
    } finally {
      this.#phase = 'saving';
    }
  }

  /** The end of the transaction, after the flush: nothing but the COMMIT comes after it. */
  async beforeCommit(): Promise<void> {
    await this.#callsEnd();
    if (this.#guard.hasFailedFlush) {
      this.fail(new UnitRolledBackError('a flush of its EntityManager had failed'));
    }
    this.#check();
    this.#phase = 'committing';

    const hasWritten = await this.#messages.write(this.em);
    // PostgreSQL turns the COMMIT of a transaction with a swallowed error into a rollback, and says so to nobody: a
    // statement of ours has to succeed after the last one of work's.
    if (!(await this.#lastWrite(this.em)) && !hasWritten) {
      await run(this.em, 'select 1', []);
    }

    this.#check();
    this.#isComplete = true;
  }

  /** After the transaction's end. */
  end(isCommitted: boolean): void {
    this.#phase = 'ended';
    this.#messages.drop();
    if (!isCommitted) {
      this.em.clear();
    }
  }

  async #attempt<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  async #callsEnd(): Promise<void> {
    while (this.#calls.size > 0) {
      await Promise.all(this.#calls);
    }
  }

  #check(): void {
    if (this.em.getTransactionContext() !== this.#transaction) {
      this.fail(new UnitControlError('em.begin(), em.commit() or em.rollback()'));
    }
    if (this.#failure !== null) {
      throw rolledBack(this.#failure.cause);
    }

    this.#signal.throwIfAborted();
  }
}

function rolledBack(cause: unknown): unknown {
  return cause instanceof UnitRolledBackError
    ? cause
    : new UnitRolledBackError('something in it had failed', { cause });
}

function nothing(): void {}
