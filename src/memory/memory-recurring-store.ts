import type { Clock, CreationClock } from '../core/clock.ts';
import type { JobKey } from '../core/job-key.ts';
import type { Firing, RecurringJob, RecurringStore, RecurringUpsert, Resumption } from '../core/recurring.ts';
import type { JobSnapshot } from '../core/snapshot.ts';
import type { Micros } from '../core/time.ts';
import { compareTexts } from './compare.ts';
import { insertOrGet } from './insert-or-get.ts';
import { keyOf } from './keys.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { MemoryStoreParts } from './memory-job-store.ts';
import { occurrenceOf } from '../core/occurrence-of.ts';
import { recurringJobOf, upserted, type StoredRecurringJob } from './stored-recurring-job.ts';

/** Recurring jobs in memory. NOT DURABLE: gone with the process. */
export class MemoryRecurringStore implements RecurringStore {
  readonly #database: MemoryDatabase;
  readonly #clock: Clock;
  readonly #creationClock: CreationClock;

  constructor({ database, clock, creationClock }: MemoryStoreParts) {
    this.#database = database;
    this.#clock = clock;
    this.#creationClock = creationClock;
  }

  async upsertRecurring(job: RecurringUpsert): Promise<void> {
    this.#database.atomically(() => this.#upsert(job));
    this.#changed();
  }

  async replaceRecurring(scope: string, jobs: readonly RecurringUpsert[]): Promise<string[]> {
    const kept = new Set(jobs.map(({ id }) => id));
    const removed = this.#database.atomically(() => {
      jobs.forEach(job => this.#upsert(job));
      const others = this.#inScope(scope).filter(({ id }) => !kept.has(id));
      others.forEach(other => this.#database.recurring.delete(keyOf(other)));

      return others.map(({ id }) => id);
    });

    this.#changed();
    return removed;
  }

  async getRecurring(key: JobKey): Promise<RecurringJob | null> {
    const stored = this.#get(key);
    return stored === undefined ? null : this.#answer(stored);
  }

  async listRecurring(scope: string): Promise<RecurringJob[]> {
    return this.#inScope(scope)
      .sort(bySoonest)
      .map(stored => this.#answer(stored));
  }

  async removeRecurring(key: JobKey): Promise<boolean> {
    return this.#database.atomically(() => {
      const isThere = this.#get(key) !== undefined;
      this.#database.recurring.delete(keyOf(key));

      return isThere;
    });
  }

  async pauseRecurring(key: JobKey): Promise<boolean> {
    const isThere = this.#database.atomically(() => {
      const job = this.#get(key);
      if (job !== undefined) {
        this.#put({ ...job, isPaused: true });
      }

      return job !== undefined;
    });

    this.#changed();
    return isThere;
  }

  async resumeRecurring(key: JobKey, { cron, timeZone, next }: Resumption): Promise<boolean> {
    const isResumed = this.#database.atomically(() => {
      const job = this.#get(key);
      if (job?.cron !== cron || job.timeZone !== timeZone) {
        return false;
      }

      this.#put({ ...job, isPaused: false, nextFireAt: job.isPaused ? (next ?? job.nextFireAt) : job.nextFireAt });
      return true;
    });

    this.#changed();
    return isResumed;
  }

  async dueRecurring(limit: number): Promise<{ readonly due: RecurringJob[]; readonly nextFireAt: Micros | null }> {
    const now = this.#clock.now();
    const coming = this.#database.recurring
      .all()
      .filter(({ isPaused, nextFireAt }) => !isPaused && nextFireAt !== null);
    const soonest = coming.sort(bySoonest);
    const due = soonest.filter(job => job.nextFireAt! <= now).slice(0, limit);

    return { due: due.map(stored => this.#answer(stored)), nextFireAt: soonest[due.length]?.nextFireAt ?? null };
  }

  async fire({
    key,
    expected,
    next,
    occurrences,
  }: Firing): Promise<{ readonly won: boolean; readonly created: number }> {
    return this.#database.atomically(() => {
      const job = this.#get(key);
      if (job === undefined || job.isPaused || job.nextFireAt !== expected) {
        return { won: false, created: 0 };
      }

      this.#put({ ...job, nextFireAt: next, lastFireAt: occurrences.at(-1) ?? job.lastFireAt });
      const results = this.#insert(job, occurrences);
      return { won: true, created: results.filter(({ created }) => created).length };
    });
  }

  async runRecurringNow(key: JobKey): Promise<JobSnapshot | null> {
    return this.#database.atomically(() => {
      const job = this.#get(key);
      return job === undefined ? null : this.#insert(job, [null])[0]!.job;
    });
  }

  #get(key: JobKey): StoredRecurringJob | undefined {
    return this.#database.recurring.get(keyOf(key));
  }

  #answer(stored: StoredRecurringJob): RecurringJob {
    const made = this.#database.jobs
      .all()
      .filter(job => job.scope === stored.scope && job.recurringId === stored.id)
      .sort((a, b) => b.createdAt - a.createdAt);

    return recurringJobOf(stored, made[0]?.state ?? null);
  }

  #inScope(scope: string): StoredRecurringJob[] {
    return this.#database.recurring.all().filter(job => job.scope === scope);
  }

  #put(job: StoredRecurringJob): void {
    this.#database.recurring.put(keyOf(job), job);
  }

  #upsert(job: RecurringUpsert): void {
    this.#put(upserted(job, this.#get(job)));
  }

  #insert(job: StoredRecurringJob, occurrences: ReadonlyArray<Micros | null>) {
    const submissions = occurrences.map(occurrence => occurrenceOf(job, occurrence));
    return insertOrGet(this.#database, submissions, this.#creationClock, job.id);
  }

  #changed(): void {
    this.#database.hints.send({ kind: 'recurring' });
  }
}

/** By the next occurrence, what has none last, then by id and scope. */
function bySoonest(a: StoredRecurringJob, b: StoredRecurringJob): number {
  const order = (a.nextFireAt ?? Infinity) - (b.nextFireAt ?? Infinity);

  return order || compareTexts(a.id, b.id) || compareTexts(a.scope, b.scope);
}
