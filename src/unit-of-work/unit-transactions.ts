import { IsolationLevel, type EntityManager } from '@mikro-orm/core';
import { AsyncLocalStorage } from 'node:async_hooks';
import { begunWithin } from '../core/begun-within.ts';
import { CreationClock } from '../core/clock.ts';
import { AmbientTransactionError } from '../core/errors.ts';
import { allOf } from './all-of.ts';
import { connectionLimit, type UnitOfWorkDependencies } from './dependencies.ts';
import { UnitRolledBackError } from './errors.ts';
import { Frame } from './frame.ts';
import { RunningUnit, type LastWrite } from './running-unit.ts';
import type { Unit } from './unit.ts';

type Work<Em, T> = (unit: Unit<Em>) => Promise<T>;

/** Opens the transactions of units, and knows which one the code that runs now belongs to. */
export class UnitTransactions<Em extends EntityManager> {
  readonly #dependencies: UnitOfWorkDependencies<Em>;
  readonly #creationClock: CreationClock;
  readonly #frames = new AsyncLocalStorage<Frame<Em>>();

  constructor(dependencies: UnitOfWorkDependencies<Em>) {
    this.#dependencies = dependencies;
    this.#creationClock = new CreationClock(dependencies.clock);
  }

  /** Inside of a unit's work joins it, elsewhere opens a transaction. */
  joinOrOpen<T>(operation: string, work: Work<Em, T>, signal: AbortSignal | undefined): Promise<T> {
    const outer = this.#frames.getStore();

    return outer === undefined || outer.hasUnitEnded
      ? this.open(operation, work, allOf(signal), nothingMore)
      : outer.join(allOf(outer.signal, signal), frame => this.#frames.run(frame, () => work(frame.unit)));
  }

  /** @throws AmbientTransactionError inside a transaction, a unit's included */
  refuseTransaction(operation: string): void {
    if (this.#frames.getStore()?.hasUnitEnded === false) {
      throw new AmbientTransactionError(operation, 'It opens its own transaction: call it outside of another unit.');
    }

    this.#dependencies.refuseAmbientTransaction(operation);
  }

  async open<T>(operation: string, work: Work<Em, T>, signal: AbortSignal, lastWrite: LastWrite<Em>): Promise<T> {
    signal.throwIfAborted();
    this.refuseTransaction(operation);
    let unit: RunningUnit<Em> | undefined;
    let isCommitted = false;

    try {
      const result = await begunWithin(connectionLimit(this.#dependencies, operation), begun =>
        this.#dependencies.fork().transactional(em => {
          begun();
          unit = new RunningUnit(em as unknown as Em, signal, this.#creationClock, lastWrite);
          const frame = new Frame(unit, signal, (own, submissions) => this.#dependencies.stage(own, submissions));

          return unit.work(() => this.#frames.run(frame, () => work(frame.unit)));
        }, this.#transactionOptions()),
      );
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

  /** SQLite has no levels, and MikroORM 6 warns when it is given one. */
  #transactionOptions(): { isolationLevel?: IsolationLevel } {
    return this.#dependencies.dialect === 'postgresql' ? { isolationLevel: IsolationLevel.READ_COMMITTED } : {};
  }
}

const nothingMore = async (): Promise<boolean> => false;

/** PostgreSQL's answer to every statement after one that failed. */
function isAbortedTransaction(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '25P02';
}
