import type { FailureReason } from './failure-reason.ts';
import type { JobKey } from './job-key.ts';
import type { AttemptSnapshot, JobSnapshot } from './snapshot.ts';
import type { JobState } from './states.ts';
import type { Micros } from './time.ts';

/** Reads for people, beside the store that an executor needs. They take no lock, grant nothing and load no payload. */
export interface JobQueries {
  /** All attempts of a job, the first one first; of an unknown job, none. Prunes go by job, so none is missing. */
  attempts(key: JobKey): Promise<AttemptSnapshot[]>;
  /** The newest first; ties by key. @param after the last job of the page before */
  list(filter: JobFilter, page: { readonly after: ListPosition | null; readonly limit: number }): Promise<ListedJob[]>;
  /** How many jobs match, for each queue, definition and state of which there are any. */
  counts(filter: JobFilter): Promise<JobCount[]>;
  /** How many jobs match, for each reason of which there are any; a job without one is not counted. */
  countsByReason(filter: JobFilter): Promise<ReasonCount[]>;
  /** What is due now in each queue that has any, and since when the first of it. */
  backlog(): Promise<Backlog[]>;
  /** Executors, the latest started first; stopped and lapsed ones only when asked for. */
  executors(options: { readonly onlyActive: boolean }): Promise<ExecutorSnapshot[]>;
}

/** All conditions must hold; a list means one of these. */
export interface JobFilter {
  /** Left out: of all scopes. */
  readonly scope?: string;
  readonly states?: readonly JobState[];
  readonly queues?: readonly string[];
  readonly names?: readonly string[];
  readonly reasons?: readonly FailureReason[];
  readonly recurringId?: string;
  /** Created at this instant or later. */
  readonly createdFrom?: Date;
  /** Created before this instant. */
  readonly createdBefore?: Date;
  /** Ended at this instant or later. */
  readonly finishedFrom?: Date;
  /** Ended before this instant. */
  readonly finishedBefore?: Date;
}

/** Where a page ended. */
export interface ListPosition {
  readonly createdAt: Micros;
  readonly scope: string;
  readonly id: string;
}

export interface ListedJob {
  readonly job: JobSnapshot;
  readonly position: ListPosition;
}

export interface JobCount {
  readonly queue: string;
  readonly name: string;
  readonly version: string;
  readonly state: JobState;
  readonly count: number;
}

export interface ReasonCount {
  readonly reason: FailureReason;
  readonly count: number;
}

export interface Backlog {
  readonly queue: string;
  readonly due: number;
  /** Microseconds: how long the first of them has been due. */
  readonly lag: Micros;
}

export interface ExecutorSnapshot {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly state: 'active' | 'lapsed' | 'stopped';
  /** Null: without a lease. */
  readonly leaseUntil: Date | null;
  readonly startedAt: Date;
  /** Null: it didn't say. */
  readonly definitions: ReadonlyArray<{ readonly name: string; readonly version: string }> | null;
  /** Null: all of them. */
  readonly queues: readonly string[] | null;
  readonly concurrency: number | null;
  /** Jobs that it runs. */
  readonly running: number;
}
