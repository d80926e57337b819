import type { JobKey } from './job-key.ts';
import type { Missed } from './schedule.ts';
import type { JobSnapshot } from './snapshot.ts';
import type { JobState } from './states.ts';
import type { Submission } from './submission.ts';
import type { Micros } from './time.ts';

/** Whether an occurrence waits in the queue beside an earlier job that is still active, or is left out. */
export type Overlap = 'queue' | 'skip';

/** The job that each occurrence makes: a submission without what belongs to one job alone. */
export type JobTemplate = Pick<
  Submission,
  | 'scope'
  | 'name'
  | 'version'
  | 'payload'
  | 'queue'
  | 'priority'
  | 'maxAttempts'
  | 'onInterrupt'
  | 'timeoutMs'
  | 'retryPolicy'
  | 'lifetimeMs'
  | 'metadata'
>;

/** A recurring job as it is stored. */
export interface RecurringJob extends JobKey {
  readonly cron: string;
  readonly timeZone: string;
  readonly template: JobTemplate;
  readonly missed: Missed;
  readonly overlap: Overlap;
  /** Microseconds; null: it comes no more, or its expression can't be read any more. */
  readonly nextFireAt: Micros | null;
  readonly lastFireAt: Micros | null;
  readonly isPaused: boolean;
  /** The state of the job that it made last; null: it has made none, or that one is gone. */
  readonly lastState: JobState | null;
}

/** What an upsert says; the next occurrence is taken only when cron or time zone changed, or none is stored. */
export type RecurringUpsert = Omit<RecurringJob, 'lastFireAt' | 'isPaused' | 'lastState'>;

/** Moves a recurring job from one occurrence to the next, and makes its jobs. */
export interface Firing {
  readonly key: JobKey;
  /** The stored next occurrence, by which one of all callers wins. */
  readonly expected: Micros;
  readonly next: Micros | null;
  /** The occurrences that get a job, the earliest first; none: they are passed over. */
  readonly occurrences: readonly Micros[];
}

/** With which occurrence a paused recurring job goes on, and what that was found by. */
export interface Resumption extends Pick<RecurringJob, 'cron' | 'timeZone'> {
  /** Null: it keeps the stored one. */
  readonly next: Micros | null;
}

/** The part of a store that keeps recurring jobs. It computes no occurrence: those are handed in. */
export interface RecurringStore {
  /** One atomic statement: inserts, or overwrites what the host says and keeps what was fired, and whether it is paused. */
  upsertRecurring(job: RecurringUpsert): Promise<void>;
  /** All of a scope, in one atom: upserts these and removes the others of the scope. Answers the ids of the removed. */
  replaceRecurring(scope: string, jobs: readonly RecurringUpsert[]): Promise<string[]>;
  getRecurring(key: JobKey): Promise<RecurringJob | null>;
  /** Ordered by the next occurrence, then the id; what has none comes last. */
  listRecurring(scope: string): Promise<RecurringJob[]>;
  /** Touches no job that was made already. False: unknown. */
  removeRecurring(key: JobKey): Promise<boolean>;
  /** A paused one doesn't fire. False: unknown. */
  pauseRecurring(key: JobKey): Promise<boolean>;
  /**
   * Ends a pause; what isn't paused keeps its next occurrence. False, and nothing was changed: unknown, or cron or time zone are
   * no longer those by which `next` was found.
   */
  resumeRecurring(key: JobKey, resumption: Resumption): Promise<boolean>;
  /** What is due, the most overdue first, and when the next one will be. */
  dueRecurring(limit: number): Promise<{ readonly due: RecurringJob[]; readonly nextFireAt: Micros | null }>;
  /**
   * Compares the stored next occurrence with the expected one, moves it, and inserts the jobs, all in one atom: of any number
   * of callers one wins. Overlap is judged by that insert: with `skip`, an active job of it leaves the new ones out.
   */
  fire(firing: Firing): Promise<{ readonly won: boolean; readonly created: number }>;
  /** Makes one job of it now; the schedule is not touched. Null: unknown. */
  runRecurringNow(key: JobKey): Promise<JobSnapshot | null>;
}
