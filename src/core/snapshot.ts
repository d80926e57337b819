import type { FailureReason } from './failure-reason.ts';
import type { JobKey } from './job-key.ts';
import type { AttemptState, JobState } from './states.ts';
import type { OnInterrupt } from './submission.ts';

/** A job as it was when it was read: frozen, and never written back. The payload is not part of it. */
export interface JobSnapshot extends JobKey {
  readonly name: string;
  readonly version: string;
  /** The queue that it waits in; an operator may have moved it. */
  readonly queue: string;
  readonly priority: number;
  readonly state: JobState;
  /** Starts so far. */
  readonly attemptCount: number;
  /** Failures recorded since it was submitted, or resurrected; snoozes and interruptions are none. */
  readonly failureCount: number;
  /** Starts allowed, as submitted. */
  readonly maxAttempts: number;
  /** Starts allowed now: a snooze gives one back, a resurrection as many as were submitted. */
  readonly attemptLimit: number;
  readonly onInterrupt: OnInterrupt;
  /** 0 to 100, of the current or the last attempt. */
  readonly progress: number;
  readonly progressMessage: string | null;
  /** What the handler returned, never interpreted; null unless the job succeeded. */
  readonly resultRef: string | null;
  readonly failureReason: FailureReason | null;
  /** The last recorded error, at most 8 KiB; a later success keeps it. */
  readonly lastError: string | null;
  readonly cancelRequestedAt: Date | null;
  readonly cancelReason: string | null;
  readonly uniqueKey: string | null;
  /** Whether an operator put another payload in the place of the submitted one. */
  readonly isRepaired: boolean;
  /** Who did the last operator action; null: nobody did, or didn't say. */
  readonly changedBy: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** The recurring job that made it, which may be gone; `notBefore` is its occurrence then. */
  readonly recurringId: string | null;
  /** As submitted. */
  readonly notBefore: Date | null;
  /** When it may start, or might have. */
  readonly nextRunAt: Date;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** +1 with every write. */
  readonly revision: number;
}

/** One execution of a job, as it was when it was read. */
export interface AttemptSnapshot extends JobKey {
  /** 1 for the first start. */
  readonly attempt: number;
  readonly state: AttemptState;
  readonly executorId: string;
  readonly progress: number;
  readonly progressMessage: string | null;
  readonly failureReason: FailureReason | null;
  readonly error: string | null;
  readonly resultRef: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
}

/** Which stored job a submission met: none, one of the same scope and id, or an active one with the same unique key. */
export type Matched = 'none' | 'identity' | 'uniqueKey';

/** What became of a submission. */
export interface StageResult {
  readonly job: JobSnapshot;
  /** Whether this call made the job. */
  readonly created: boolean;
  readonly matched: Matched;
}
