import type { AttemptRef } from '../core/attempt.ts';
import type { Clock } from '../core/clock.ts';
import type { ClaimKeyAnswer, IdempotencyStore } from '../core/idempotency.ts';
import type { JobKey } from '../core/job-key.ts';
import { uniqueHash } from '../core/scope.ts';
import type { Micros } from '../core/time.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { MemoryStoreParts } from './memory-job-store.ts';

/** A claim or a result under one key of `job.once`. */
export interface StoredKey {
  readonly hash: string;
  readonly state: 'in_progress' | 'completed';
  readonly owner: JobKey & { readonly token: string };
  readonly expiresAt: Micros;
  readonly value: string | null;
}

/** The keys of `job.once` in memory. NOT DURABLE: gone with the process. */
export class MemoryIdempotencyStore implements IdempotencyStore {
  readonly #database: MemoryDatabase;
  readonly #clock: Clock;

  constructor({ database, clock }: Pick<MemoryStoreParts, 'database' | 'clock'>) {
    this.#database = database;
    this.#clock = clock;
  }

  async claimKey(attempt: AttemptRef, key: string, expiresAt: Micros): Promise<ClaimKeyAnswer> {
    return this.#database.atomically(() => {
      const { scope, id, token } = attempt;
      if (!this.#isOwner(attempt)) {
        return { answer: 'lost' };
      }

      const held = this.#held(attempt, key);
      if (held !== undefined && held.expiresAt > this.#clock.now()) {
        if (held.state === 'completed') {
          return { answer: 'completed', value: held.value };
        }
        if (held.owner.token !== token && this.#isOwner(held.owner)) {
          return { answer: 'in_progress' };
        }
      }

      const hash = uniqueHash(scope, key);
      this.#put({ hash, state: 'in_progress', owner: { scope, id, token }, expiresAt, value: null });
      return { answer: 'claimed' };
    });
  }

  async completeKey(
    attempt: AttemptRef,
    key: string,
    value: string | null,
    expiresAt: Micros,
  ): Promise<'completed' | 'lost'> {
    return this.#database.atomically(() => {
      const held = this.#heldBy(attempt, key);
      if (held === null || !this.#isOwner(attempt)) {
        return 'lost';
      }

      this.#put({ ...held, state: 'completed', expiresAt, value });
      return 'completed';
    });
  }

  async releaseKey(attempt: AttemptRef, key: string): Promise<void> {
    this.#database.atomically(() => {
      const held = this.#heldBy(attempt, key);
      if (held !== null) {
        this.#database.keys.delete(held.hash);
      }
    });
  }

  async pruneKeys(limit: number): Promise<number> {
    return this.#database.atomically(() => {
      const now = this.#clock.now();
      const expired = this.#database.keys.all().filter(({ expiresAt }) => expiresAt <= now);
      const pruned = expired.slice(0, limit);
      pruned.forEach(({ hash }) => this.#database.keys.delete(hash));

      return pruned.length;
    });
  }

  #held({ scope }: JobKey, key: string): StoredKey | undefined {
    return this.#database.keys.get(uniqueHash(scope, key));
  }

  /** What the attempt holds and has not completed. */
  #heldBy(attempt: AttemptRef, key: string): StoredKey | null {
    const held = this.#held(attempt, key);
    return held?.state === 'in_progress' && held.owner.token === attempt.token ? held : null;
  }

  #isOwner({ scope, id, token }: JobKey & { readonly token: string }): boolean {
    const job = this.#database.jobs.get({ scope, id });
    return job?.state === 'running' && job.token === token;
  }

  #put(key: StoredKey): void {
    this.#database.keys.put(key.hash, key);
  }
}
