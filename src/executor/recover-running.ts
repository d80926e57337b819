import type { EventStream } from '../core/event-stream.ts';
import type { JobStore } from '../core/store.ts';
import { isRecovered, recover } from './recover.ts';

const pageSize = 100;

/**
 * Recovers what executors without a lease left running. Jobs of other executors of this process are left alone.
 *
 * @returns how many were recovered
 */
export async function recoverRunning(
  store: Pick<JobStore, 'running' | 'recover'>,
  isAlive: (executorId: string) => boolean,
  events: EventStream,
): Promise<number> {
  /** What was looked at and stays running: each page is longer by it, or it might show nothing else for ever. */
  const kept = new Set<string>();
  let recovered = 0;

  for (;;) {
    const page = await store.running({ unleased: true, limit: pageSize + kept.size });
    const news = page.filter(({ token }) => !kept.has(token));
    if (news.length === 0) {
      return recovered;
    }

    const orphans = news.filter(({ executorId }) => !isAlive(executorId));
    const answers = await recover(store, orphans, 'instance_restart', events);
    const done = orphans.filter((_, index) => isRecovered(answers[index]));
    news.forEach(({ token }) => kept.add(token));
    done.forEach(({ token }) => kept.delete(token));
    recovered += done.length;
  }
}
