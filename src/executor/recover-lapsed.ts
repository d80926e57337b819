import type { Logger } from '../core/logger.ts';
import type { JobStore } from '../core/store.ts';

const pageSize = 500;

/**
 * Declares executors dead whose leases are over, and recovers what they, or stopped ones, left running.
 *
 * @returns how many attempts were recovered
 */
export async function recoverLapsed(store: Pick<JobStore, 'recoverLapsed'>, logger: Logger): Promise<number> {
  let total = 0;

  for (;;) {
    const { lapsed, recovered } = await store.recoverLapsed(pageSize);
    if (lapsed.length > 0) {
      logger.warn(
        { event: 'executors_lapsed', lapsed },
        'executors stopped renewing their leases; what they ran is recovered',
      );
    }

    total += recovered;
    if (recovered < pageSize) {
      return total;
    }
  }
}
