import type { EntityManager } from '@mikro-orm/core';
import type { CreationClock } from '../core/clock.ts';
import { dueLanesOf } from '../core/due-lane.ts';
import { scopeHash } from '../core/scope.ts';
import type { JobSnapshot, StageResult } from '../core/snapshot.ts';
import type { Submission } from '../core/submission.ts';
import { createdOf } from '../core/told.ts';
import type { CommitWatch } from './commit-watch.ts';
import { freeLostConnections } from './free-lost-connections.ts';
import { inTurn } from './in-turn.ts';
import { insertOrGet } from './insert-or-get.ts';
import type { Session } from './session.ts';
import type { RowKey, SqlDialect } from './sql/dialect.ts';
import { stagingTransaction } from './staging-transaction.ts';

export interface StagingParts {
  /** The ORM's own EntityManager, to tell another ORM's from it. */
  readonly em: EntityManager;
  readonly dialect: SqlDialect;
  readonly creationClock: CreationClock;
  readonly commits: CommitWatch;
  readonly session: Session;
}

/**
 * Stages in the caller's transaction: sends its statements there and nothing else. Executors of this process hear of it after
 * the real commit.
 */
export async function stage(
  { em: own, dialect, creationClock, commits, session }: StagingParts,
  given: EntityManager,
  submissions: readonly Submission[],
): Promise<StageResult[]> {
  await freeLostConnections(own);
  const em = stagingTransaction(given, own);
  const { tables, write } = session.inTransaction(em);

  const results = await inTurn(em.getTransactionContext<object>()!, () =>
    insertOrGet({ dialect, tables, run: write }, submissions, creationClock),
  );
  const created = createdOf(results);
  if (created.length > 0) {
    commits.mark(em, { awaiting: created.filter(isAwaiting).map(rowKeyOf), lanes: dueLanesOf(created) }, created);
  }

  return results;
}

/** Its parents may end in a transaction beside this one: neither sees the other, so it is looked at again after the commit. */
function isAwaiting({ state }: JobSnapshot): boolean {
  return state === 'awaiting';
}

function rowKeyOf({ scope, id }: JobSnapshot): RowKey {
  return [scopeHash(scope), id];
}
