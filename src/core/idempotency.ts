import type { AttemptRef } from './attempt.ts';
import type { Micros } from './time.ts';

/**
 * What `job.once` needs of a database: who is at work under a key, and what the work gave. A key belongs to a scope: the
 * attempts of all its jobs share it. Every call is atomic, and every write is fenced by the attempt's token. Instants that
 * are compared come from the store's `Clock`.
 */
export interface IdempotencyStore {
  /**
   * Gives the key to an attempt, unless another one that still owns its job holds it, or a result that has not expired is
   * stored. Of several callers at once one gets it. An attempt that asks again for what it holds gets it again.
   *
   * @param expiresAt when others may take the claim even though its attempt still owns its job
   */
  claimKey(attempt: AttemptRef, key: string, expiresAt: Micros): Promise<ClaimKeyAnswer>;

  /**
   * Stores what the work gave, for an attempt that owns its job and holds the key; an expired claim that nobody took is still
   * held.
   *
   * @param value JSON text; null: the work gave nothing
   */
  completeKey(attempt: AttemptRef, key: string, value: string | null, expiresAt: Micros): Promise<'completed' | 'lost'>;

  /** Gives the key free if this attempt holds it and has not completed it. */
  releaseKey(attempt: AttemptRef, key: string): Promise<void>;

  /** Forgets results and claims that have expired, at most `limit`. @returns how many */
  pruneKeys(limit: number): Promise<number>;
}

/**
 * `claimed`: the caller does the work. `completed`: it was done, and gave this. `in_progress`: another attempt does it. `lost`:
 * the caller's token is stale.
 */
export type ClaimKeyAnswer =
  | { readonly answer: 'claimed' | 'in_progress' | 'lost' }
  | { readonly answer: 'completed'; readonly value: string | null };
