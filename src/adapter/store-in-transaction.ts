import type { EntityManager } from '@mikro-orm/core';
import type { JobStore } from '../core/store.ts';
import type { CommitWatch } from './commit-watch.ts';
import { MikroOrmJobStore } from './mikro-orm-job-store.ts';
import type { StoreParts } from './store-parts.ts';
import { TransactionSession } from './transaction-session.ts';

/**
 * The store in the open transaction of an EntityManager. What that makes due, or ends, is due or ended when it has committed:
 * told of before, it would be looked for in vain.
 */
export function storeInTransaction(
  parts: Omit<StoreParts, 'session' | 'keepUntilCommit'>,
  commits: CommitWatch,
  transaction: EntityManager,
): JobStore {
  const { hints } = parts;

  return new MikroOrmJobStore({
    ...parts,
    session: new TransactionSession(transaction),
    hints: {
      reach: hints.reach,
      subscribe: listener => hints.subscribe(listener),
      send: () => commits.mark(transaction, { lanes: undefined }),
    },
    keepUntilCommit: ended => commits.mark(transaction, { ended }),
  });
}
