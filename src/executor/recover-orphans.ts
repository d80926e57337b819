import type { RunningHost } from './executor-host.ts';
import { liveExecutors } from './live-executors.ts';
import { recoverLapsed } from './recover-lapsed.ts';
import { recoverRunning } from './recover-running.ts';

/**
 * Recovers what killed processes left running: at once without leases, where no other process can be at work; else what has lapsed.
 *
 * @returns how many attempts were recovered
 */
export async function recoverOrphans(
  { store, events, logger }: Pick<RunningHost<unknown>, 'store' | 'events' | 'logger'>,
  hasLease: boolean,
): Promise<number> {
  if (!hasLease) {
    const recovered = await recoverRunning(store, id => liveExecutors.has(id), events);
    await store.retireUnleased([...liveExecutors]);

    return recovered;
  }

  const [unleased] = await store.running({ unleased: true, limit: 1 });
  if (unleased !== undefined) {
    logger.warn(
      { event: 'unleased_running', executorId: unleased.executorId },
      'jobs run under an executor without a lease; if it is gone, start one with `lease: false` once to recover them',
    );
  }

  return recoverLapsed(store, events);
}
