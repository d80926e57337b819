import type { Clock } from '../core/clock.ts';
import type { QueueSettings, QueueStore } from '../core/queues.ts';
import { dateOf } from '../core/time.ts';
import { compareTexts } from './compare.ts';
import type { MemoryDatabase, StoredQueue } from './memory-database.ts';
import type { MemoryStoreParts } from './memory-job-store.ts';

/** The settings of queues in memory. NOT DURABLE: gone with the process. */
export class MemoryQueueStore implements QueueStore {
  readonly #database: MemoryDatabase;
  readonly #clock: Clock;

  constructor({ database, clock }: Pick<MemoryStoreParts, 'database' | 'clock'>) {
    this.#database = database;
    this.#clock = clock;
  }

  async setQueuePaused(name: string, isPaused: boolean, actor: string | null): Promise<void> {
    this.#set(name, { isPaused, changedBy: actor });
  }

  async setQueueLimit(name: string, maxRunning: number | null, actor: string | null): Promise<void> {
    this.#set(name, { maxRunning, changedBy: actor });
  }

  async queueSettings(): Promise<QueueSettings[]> {
    return this.#database.queues
      .all()
      .sort((a, b) => compareTexts(a.name, b.name))
      .map(queue => Object.freeze({ ...queue, updatedAt: dateOf(queue.updatedAt) }));
  }

  #set(name: string, changes: Partial<StoredQueue>): void {
    const { hints, queues } = this.#database;
    const updatedAt = this.#clock.now();

    this.#database.atomically(() => {
      const stored = queues.get(name) ?? { name, isPaused: false, maxRunning: null };
      queues.put(name, { changedBy: null, ...stored, ...changes, updatedAt });
    });
    hints.send({ kind: 'due' });
  }
}
