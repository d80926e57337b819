import type { EntityManager } from '@mikro-orm/core';
import type { JobStore } from '../core/store.ts';
import { OwnTransaction } from './own-transaction.ts';
import { sqlDialectOf } from './sql-dialect-of.ts';

type TransactionOptions = NonNullable<Parameters<EntityManager['transactional']>[1]>;

/**
 * What has a signal cancel the statements of a transaction on PostgreSQL. MikroORM 6 knows none of it, so there a statement ends by itself;
 * those of SQLite can't be interrupted.
 */
export function cutBy(cut: AbortSignal, em: EntityManager): object {
  return sqlDialectOf(em).name === 'postgresql' ? { signal: cut, inflightQueryAbortStrategy: 'cancel query' } : {};
}

/** Runs `work`, flushes what it left, then settles with a store that writes in the same transaction; all of it or nothing. */
export function settledTransaction<Em extends EntityManager, T>(
  em: Em,
  options: TransactionOptions,
  storeIn: (transaction: EntityManager) => JobStore,
  work: (em: Em) => Promise<T>,
  settle: (store: Pick<JobStore, 'settle'>, result: T) => Promise<void>,
): Promise<T> {
  return em.transactional(async transaction => {
    const result = await new OwnTransaction(transaction).work(async () => {
      const returned = await work(transaction as Em);
      // What work left unflushed belongs before the settlement: an error of it must not find the attempt ended.
      await transaction.flush();

      return returned;
    });
    await settle(storeIn(transaction), result);

    return result;
  }, options);
}
