import type { EventStream } from '../core/event-stream.ts';
import type { JobStore } from '../core/store.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { release } from './release.ts';

export interface ForgottenParts {
  readonly store: Pick<JobStore, 'running' | 'release'>;
  readonly lease: Pick<LeaseKeeper, 'executorId' | 'isHeld'>;
  /** Whether its handler runs or ran, and what became of it is still to be written. */
  readonly knows: (token: string) => boolean;
  readonly limit: number;
  readonly events: EventStream;
}

/** Gives back what this executor holds and doesn't know: a claim was committed and its answer lost. */
export async function releaseForgotten({ store, lease, knows, limit, events }: ForgottenParts): Promise<void> {
  const { executorId } = lease;
  const held = await store.running({ executorId, limit });

  // What ran under a lease that is lost isn't known any more either; it began, so its fate is the recovery's.
  if (lease.isHeld && lease.executorId === executorId) {
    await release(
      store,
      held.filter(({ token }) => !knows(token)),
      events,
    );
  }
}
