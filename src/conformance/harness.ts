import type { AttemptRef } from '../core/attempt.ts';
import type { Clock } from '../core/clock.ts';
import type { JobKey } from '../core/job-key.ts';
import type { IdempotencyStore } from '../core/idempotency.ts';
import type { JobQueries } from '../core/queries.ts';
import type { QueueStore } from '../core/queues.ts';
import type { RecurringStore } from '../core/recurring.ts';
import type { JobStore } from '../core/store.ts';
import type { ManualClock } from './manual-clock.ts';

/** How the kit reaches a store. Whoever writes a store writes one of these for it. */
export interface Harness {
  /** For reports, for example `'redis 8'`. */
  readonly name: string;
  /** What its subjects can do beyond the contract. Facts that need more than this are left out, and reported as left out. */
  readonly abilities: readonly Ability[];
  /** A store on an empty storage: no job, executor, queue setting or recurring job is in it. Called once for each fact. */
  create(): Promise<Subject>;
}

/**
 * `severalHandles`: `open()` gives another store on the same storage, with connections of its own. `deleteAttempt` and
 * `deleteJob`: `faults` can take away one row behind the store's back, as a person with a database client can. `wakeUp`: its
 * stores call listeners, as `capabilities.wakeUp` says, which is not `none`.
 */
export const abilities = ['severalHandles', 'deleteAttempt', 'deleteJob', 'wakeUp'] as const;
export type Ability = (typeof abilities)[number];

/** The four contracts of one store. */
export interface Handle {
  readonly store: JobStore & JobQueries;
  readonly queues: QueueStore;
  readonly recurring: RecurringStore;
  readonly idempotency: IdempotencyStore;
}

/** A store under examination. */
export interface Subject extends Handle {
  /** The clock that the store reads. */
  readonly clock: ManualClock;
  /**
   * Another store on the same storage, as another process has it. It is closed with the subject.
   *
   * @param clock what it reads the time from. @default the subject's clock
   */
  open?(clock?: Clock): Promise<Handle>;
  readonly faults?: {
    /** Deletes the record of one attempt and nothing else. */
    deleteAttempt?(attempt: AttemptRef): Promise<void>;
    /** Deletes a job with its attempts. Other jobs may still name it as their parent. */
    deleteJob?(key: JobKey): Promise<void>;
  };
  /** Closes what `create` and `open` opened. */
  close(): Promise<void>;
}
