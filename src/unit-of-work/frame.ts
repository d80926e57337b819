import { TransactionContext, type EntityManager } from '@mikro-orm/core';
import { EntityManagerMismatchError } from '../core/errors.ts';
import type { Message, OutboxOptions } from '../core/message.ts';
import { refuseOthers } from '../core/one-or-several.ts';
import type { StageResult } from '../core/snapshot.ts';
import type { Submission } from '../core/submission.ts';
import type { UnitOfWorkDependencies } from './dependencies.ts';
import { ConcurrentUnitError, UnitEndedError } from './errors.ts';
import type { RunningUnit } from './running-unit.ts';
import type { Unit } from './unit.ts';

type Stage<Em> = UnitOfWorkDependencies<Em>['stage'];

/** One execute, outermost or nested: the unit that its work is given, usable until that work has ended. */
export class Frame<Em extends EntityManager> {
  readonly signal: AbortSignal;
  readonly unit: Unit<Em>;
  readonly #running: RunningUnit<Em>;
  readonly #stage: Stage<Em>;
  #isOpen = true;
  #nested: Frame<Em> | null = null;

  constructor(running: RunningUnit<Em>, signal: AbortSignal, stage: Stage<Em>) {
    this.#running = running;
    this.#stage = stage;
    this.signal = signal;
    this.unit = this.#createUnit();
  }

  get hasUnitEnded(): boolean {
    return this.#running.hasEnded;
  }

  /** Runs a nested execute, which fails this one when it fails. One at a time. */
  join<T>(signal: AbortSignal, work: (frame: Frame<Em>) => Promise<T>): Promise<T> {
    return this.#attempt('unitOfWork.execute()', async () => {
      if (this.#nested !== null) {
        throw new ConcurrentUnitError();
      }
      refuseSavepoint(this.#running.em, 'A nested `unitOfWork.execute()`');
      signal.throwIfAborted();
      const nested = (this.#nested = new Frame(this.#running, signal, this.#stage));

      try {
        const result = await work(nested);
        signal.throwIfAborted();

        return result;
      } finally {
        nested.close();
        this.#nested = null;
      }
    });
  }

  close(): void {
    this.#isOpen = false;
  }

  #createUnit(): Unit<Em> {
    const currentEm = () => this.#currentEm();

    return Object.freeze({
      get em() {
        return currentEm();
      },
      signal: this.signal,
      stage: ((submissions: Submission | readonly Submission[], ...others: unknown[]) => {
        return this.#stageAll(submissions, others);
      }) as Unit<Em>['stage'],
      outbox: Object.freeze({
        add: (message: Message, options?: OutboxOptions) => this.#addMessage(message, options),
      }),
    });
  }

  #currentEm(): Em {
    this.#refuseEnded('unit.em');
    return this.#running.em;
  }

  #stageAll(
    submissions: Submission | readonly Submission[],
    others: readonly unknown[],
  ): Promise<StageResult | StageResult[]> {
    return this.#attempt('unit.stage()', async () => {
      refuseOthers(others);
      const isBatch = Array.isArray(submissions);
      const batch = (isBatch ? submissions : [submissions]) as readonly Submission[];
      const results = batch.length === 0 ? [] : await this.#stage(this.#running.em, batch);

      return isBatch ? results : results[0]!;
    });
  }

  #addMessage(message: Message, options?: OutboxOptions): void {
    try {
      this.#refuseEnded('unit.outbox.add()');
      refuseSavepoint(this.#running.em, '`outbox.add()`');
      this.#running.addMessage(message, options);
    } catch (error) {
      this.#running.fail(error);
      throw error;
    }
  }

  #attempt<T>(what: string, call: () => Promise<T>): Promise<T> {
    return this.#running.attempt(async () => {
      this.#refuseEnded(what);
      return call();
    });
  }

  #refuseEnded(what: string): void {
    if (!this.#isOpen || !this.#running.isOpen) {
      throw new UnitEndedError(what);
    }
  }
}

/** What is held in memory until the commit can't follow a savepoint that is rolled back. */
function refuseSavepoint(em: EntityManager, what: string): void {
  const ambient = TransactionContext.getEntityManager(em.name) as EntityManager | undefined;

  // Two ORMs may have one name.
  if (ambient !== undefined && ambient !== em && ambient.getDriver() === em.getDriver()) {
    throw new EntityManagerMismatchError(
      `${what} was called inside \`em.transactional()\`, a savepoint that may be rolled back without it; call it outside.`,
    );
  }
}
