import type { EntityManager } from '@mikro-orm/core';
import type { JobStore } from '../core/store.ts';
import { OwnTransaction } from './own-transaction.ts';

/** Runs `work`, flushes what it left, then settles with a store that writes in the same transaction; all of it or nothing. */
export function settledTransaction<Em extends EntityManager, T>(
  em: Em,
  options: NonNullable<Parameters<EntityManager['transactional']>[1]>,
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
