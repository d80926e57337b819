import type { EventStream } from '../core/event-stream.ts';
import type { JobStore } from '../core/store.ts';
import { tellRecovered } from './recover.ts';

const pageSize = 500;

/**
 * Declares executors dead whose leases are over, and recovers what they, or stopped ones, left running.
 *
 * @returns how many attempts were recovered
 */
export async function recoverLapsed(store: Pick<JobStore, 'recoverLapsed'>, events: EventStream): Promise<number> {
  let total = 0;

  for (;;) {
    const { lapsed, recovered } = await store.recoverLapsed(pageSize);
    if (lapsed.length > 0) {
      events.emit({ event: 'executors_lapsed', lapsed });
    }
    recovered.forEach(one => tellRecovered(events, one, 'lease_lapsed'));

    total += recovered.length;
    if (recovered.length < pageSize) {
      return total;
    }
  }
}
