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
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), connectionTimeoutMs);

  try {
    return await storeOn(session.until(timeout.signal)).submit(submissions);
  } catch (error) {
    throw timeout.signal.aborted || isPoolTimeout(error)
      ? new ConnectionTimeoutError('submit()', { cause: error })
      : error;
  } finally {
    clearTimeout(timer);
  }
}

/** MikroORM 6: knex gave up waiting for its pool. */
function isPoolTimeout(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'KnexTimeoutError';
}
