import type { EntityManager } from '@mikro-orm/core';
import type { CreationClock } from '../core/clock.ts';
import { dueLanesOf } from '../core/due-lane.ts';
import type { JobKey } from '../core/job-key.ts';
import type { JobSnapshot, StageResult } from '../core/snapshot.ts';
import type { Submission } from '../core/submission.ts';
import type { CommitWatch } from './commit-watch.ts';
import { inTurn } from './in-turn.ts';
import { insertOrGet } from './insert-or-get.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import type { SqlDialect } from './sql/dialect.ts';
import { stagingTransaction } from './staging-transaction.ts';
import { TransactionSession } from './transaction-session.ts';

export interface StagingParts {
  /** The ORM's own EntityManager, to tell another ORM's from it. */
  readonly em: EntityManager;
  readonly dialect: SqlDialect;
  readonly creationClock: CreationClock;
  readonly commits: CommitWatch;
  readonly prepared: PreparedStatements | null;
}

/**
 * Stages in the caller's transaction: sends its statements there and nothing else. Executors of this process hear of it after
 * the real commit.
 */
export async function stage(
  { em: own, dialect, creationClock, commits, prepared }: StagingParts,
  given: EntityManager,
  submissions: readonly Submission[],
): Promise<StageResult[]> {
  const em = stagingTransaction(given, own);
  const { tables, write } = new TransactionSession(em, prepared);

  const results = await inTurn(em.getTransactionContext<object>()!, () =>
    insertOrGet({ dialect, tables, run: write }, submissions, creationClock),
  );
  const created = results.filter(({ created }) => created).map(({ job }) => job);
  if (created.length > 0) {
    commits.mark(em, { awaiting: created.filter(isAwaiting).map(keyOf), lanes: dueLanesOf(created) });
  }

  return results;
}

/** Its parents may end in a transaction beside this one: neither sees the other, so it is looked at again after the commit. */
function isAwaiting({ state }: JobSnapshot): boolean {
  return state === 'awaiting';
}

function keyOf({ scope, id }: JobKey): JobKey {
  return { scope, id };
}
