import { TransactionContext, type EntityManager } from '@mikro-orm/core';
import type { ExecutorEnvironment } from '../core/executor-environment.ts';
import type { JobStore } from '../core/store.ts';
import { AmbientTransactionError } from '../core/errors.ts';
import { cutBy, settledTransaction } from './settled-transaction.ts';
import type { Run } from './session.ts';
import { sql } from './sql/statement.ts';
import { TransactionSession } from './transaction-session.ts';

type Ended<T> = { readonly threw: false; readonly value: T } | { readonly threw: true; readonly error: unknown };

/**
 * What handlers run in inside of a transaction that is open already: a clean EntityManager in a savepoint of its own each, so that
 * a failed statement of one, after which PostgreSQL refuses all others, ends with its savepoint.
 */
export class TransactionEnvironment<Em extends EntityManager> implements ExecutorEnvironment<Em> {
  readonly #em: Em;
  readonly #storeIn: (em: EntityManager) => JobStore;
  /** The handlers' EntityManagers whose attempt was settled in their savepoint. */
  readonly #settled = new WeakSet<EntityManager>();

  constructor(em: Em, storeIn: (em: EntityManager) => JobStore) {
    this.#em = em;
    this.#storeIn = storeIn;
  }

  async check(): Promise<{ readonly connections: null }> {
    return { connections: null };
  }

  /** The one that is open already is none of the handler's. */
  refuseTransaction(em: Em, operation: string, advice: string): void {
    if (TransactionContext.getEntityManager(em.name) !== em) {
      throw new AmbientTransactionError(operation, advice);
    }
  }

  async run<T>(work: (em: Em) => Promise<T>): Promise<T> {
    const clean = this.#em.fork({ keepTransactionContext: true });
    const ended = await clean.transactional(em => inSavepoint(em, () => work(em as Em), this.#settled));

    if (ended.threw) {
      throw ended.error;
    }
    return ended.value;
  }

  async transactional<T>(
    em: Em,
    work: (em: Em) => Promise<T>,
    settle: (store: Pick<JobStore, 'settle'>, result: T) => Promise<void>,
    cut: AbortSignal,
  ): Promise<T> {
    this.refuseTransaction(em, 'job.transactional()', 'It opens the transaction itself: call it outside of yours.');

    const result = await settledTransaction(em, cutBy(cut, em), this.#storeIn, work, settle);
    // What an executor has committed by now must not go with a statement that fails later.
    await new TransactionSession(em, null).write(sql`savepoint durable_job_settled`);
    this.#settled.add(em);

    return result;
  }
}

/** A handler's writes stay when it throws, as those that it flushed do in an executor; what it left unflushed is dropped. */
async function inSavepoint<T>(
  em: EntityManager,
  work: () => Promise<T>,
  settled: WeakSet<EntityManager>,
): Promise<Ended<T>> {
  const ended = await work().then(
    (value): Ended<T> => ({ threw: false, value }),
    (error: unknown): Ended<T> => ({ threw: true, error }),
  );
  em.clear();

  // Also where the handler caught the error: a savepoint that can't be released has to be rolled back, which MikroORM 6 leaves out.
  const { read, write } = new TransactionSession(em, null);
  const refusal = await refusalIn(read);
  if (refusal !== null && settled.has(em)) {
    await write(sql`rollback to savepoint durable_job_settled`);
  } else if (refusal !== null) {
    throw ended.threw ? ended.error : refusal;
  }

  return ended;
}

/** What PostgreSQL answers to any statement after one that failed; null: nothing did. */
async function refusalIn(run: Run): Promise<Error | null> {
  return run(sql`select 1 as one`).then(
    () => null,
    (error: Error) => error,
  );
}
