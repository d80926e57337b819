import type { JobStore } from '../core/store.ts';

/**
 * The sweep over waiting jobs is for what a crash left behind. More often, and the loops of an idle executor together would send
 * more than one statement in three seconds.
 */
export const turnsPerSweep = 8;
const pageSize = 1000;

/** Looks over all jobs that wait for parents, for whatever a crash left behind: who commits and who ends jobs look after their own. */
export async function resolveAwaiting(store: Pick<JobStore, 'resolve'>): Promise<void> {
  let moved;
  do {
    moved = await store.resolve({ limit: pageSize });
  } while (moved.queued + moved.cancelled >= pageSize);
}
