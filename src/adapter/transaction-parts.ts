import type { EntityManager } from '@mikro-orm/core';
import type { CommitWatch } from './commit-watch.ts';
import type { StoreParts } from './store-parts.ts';

/**
 * The parts of a store that works inside of an open transaction. What that makes due is due when it has committed: told of before, it
 * would be looked for in vain.
 */
export function transactionParts(parts: StoreParts, commits: CommitWatch, transaction: EntityManager): StoreParts {
  const { hints } = parts;

  return {
    ...parts,
    session: parts.session.inTransaction(transaction),
    tellResolved: undefined,
    hints: {
      reach: hints.reach,
      subscribe: listener => hints.subscribe(listener),
      send: () => commits.mark(transaction, { lanes: undefined }),
    },
  };
}
