import type { JobKey } from '../core/job-key.ts';
import type { Logger } from '../core/logger.ts';
import type { JobStore } from '../core/store.ts';
import { Health } from './health.ts';

const sweepLimit = 1000;

/**
 * Looks after jobs that wait for parents: at once for those that were just committed, whose parents may have ended beside
 * them, and over all of them with the maintenance, for whatever a crash left out.
 */
export class AwaitingJobs {
  readonly #store: Pick<JobStore, 'resolve'>;
  readonly #health: Health;
  readonly #keys: JobKey[] = [];
  #resolving: Promise<void> | null = null;

  constructor(store: Pick<JobStore, 'resolve'>, logger: Logger) {
    this.#store = store;
    this.#health = new Health('resolve_committed', logger);
  }

  committed(keys: readonly JobKey[]): void {
    this.#keys.push(...keys);
    this.#resolving ??= this.#resolveCommitted();
  }

  async sweep(): Promise<void> {
    let moved;
    do {
      moved = await this.#store.resolve({ limit: sweepLimit });
    } while (moved.queued + moved.cancelled >= sweepLimit);
  }

  async close(): Promise<void> {
    await this.#resolving;
  }

  async #resolveCommitted(): Promise<void> {
    while (this.#keys.length > 0) {
      const keys = this.#keys.splice(0, sweepLimit);
      try {
        await this.#store.resolve({ keys, limit: keys.length });
        this.#health.worked();
      } catch (error) {
        // The next sweep finds them.
        this.#health.failed(error);
      }
    }
    this.#resolving = null;
  }
}
