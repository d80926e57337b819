import type { IdempotencyStore } from '../core/idempotency.ts';

const batch = 1000;

/** Forgets what has expired of `job.once`, batch by batch, so that no statement holds locks for long. */
export async function pruneKeys(store: Pick<IdempotencyStore, 'pruneKeys'>, stopping: AbortSignal): Promise<void> {
  let pruned = batch;

  while (pruned === batch && !stopping.aborted) {
    pruned = await store.pruneKeys(batch);
  }
}
