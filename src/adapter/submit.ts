import { ConnectionTimeoutError } from '../core/errors.ts';
import type { StageResult } from '../core/snapshot.ts';
import type { JobStore } from '../core/store.ts';
import type { Submission } from '../core/submission.ts';
import type { OwnSession } from './own-session.ts';

export interface SubmittingParts {
  readonly session: OwnSession;
  readonly connectionTimeoutMs: number;
  readonly storeOn: (session: OwnSession) => JobStore;
}

/**
 * Submits on a connection of its own, for which it waits so long and no longer: beside a bare `begin()` on the only
 * connection, which nobody but that fork can see, it would wait for ever.
 */
export async function submit(
  { session, connectionTimeoutMs, storeOn }: SubmittingParts,
  submissions: readonly Submission[],
): Promise<StageResult[]> {
  const limit = { ms: connectionTimeoutMs, operation: 'submit()' };

  try {
    return await storeOn(session.within(limit)).submit(submissions);
  } catch (error) {
    throw isPoolTimeout(error) ? new ConnectionTimeoutError(limit.operation, { cause: error }) : error;
  }
}

/** MikroORM 6: knex gave up waiting for its pool. Its driver makes another error of it, with the same message. */
function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Knex: Timeout acquiring a connection');
}
