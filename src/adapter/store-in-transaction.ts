import type { EntityManager } from '@mikro-orm/core';
import type { JobStore } from '../core/store.ts';
import type { CommitWatch } from './commit-watch.ts';
import { MikroOrmJobStore } from './mikro-orm-job-store.ts';
import type { StoreParts } from './store-parts.ts';
import { transactionParts } from './transaction-parts.ts';

/** The store in the open transaction of an EntityManager. Who waits for what ends there is looked after when it has committed. */
export function storeInTransaction(parts: StoreParts, commits: CommitWatch, transaction: EntityManager): JobStore {
  return new MikroOrmJobStore({
    ...transactionParts(parts, commits, transaction),
    keepUntilCommit: ended => commits.mark(transaction, { ended }),
  });
}
