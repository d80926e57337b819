import type { Attempt, AttemptRef, Progress, RunningAttempt, Settlement } from './attempt.ts';
import type { DueLane } from './due-lane.ts';
import type { FailureReason } from './failure-reason.ts';
import type { JobKey } from './job-key.ts';
import type { JobSnapshot, StageResult } from './snapshot.ts';
import type { FinishedState, JobState } from './states.ts';
import type { Submission } from './submission.ts';
import type { Micros } from './time.ts';

/**
 * What an executor needs of a database, and all that it may ask. Batches at the boundary; no policy inside: when to retry,
 * what is an error, how long is too long is decided before a call. Every call is atomic for each job that it touches, unless
 * its docstring promises more. All instants come from the store's `Clock`, never from the database.
 *
 * A lost race is an answer, in the position of what was asked; a caller's mistake or a broken promise is thrown.
 */
export interface JobStore {
  readonly capabilities: StoreCapabilities;

  /**
   * Inserts, or gets what is there: the same request under a taken identity returns the stored job, a taken unique key its
   * active holder. All or nothing, answers by position. A job with parents waits until they have succeeded; it is answered as
   * it is after its parents were looked at.
   *
   * @throws ParentNotFoundError when a parent is neither stored nor in the batch; nothing of the batch is stored
   * @throws JobIdentityConflictError when an identity is taken by a different request; nothing of the batch is stored
   */
  submit(submissions: readonly Submission[]): Promise<StageResult[]>;

  /** Makes an executor known and active; only a known one that is active may start jobs. @throws when its id is taken */
  register(executor: ExecutorRegistration): Promise<void>;

  /**
   * Extends the lease of an active executor, and with it its hold on all that it runs, and tells of its running attempts.
   * The lease's time is not judged: one that is over and not yet declared lapsed comes back. `lapsed`: it was declared dead, or
   * has no lease, and holds nothing any more.
   */
  renew(executorId: string, leaseUntil: Micros): Promise<RenewAnswer>;

  /**
   * Declares executors dead whose lease is not later than now, each by exactly one caller, and recovers the attempts of
   * executors that are not active, be they dead, stopped or unknown, at most `limit`, as their jobs declare, reason `lease_lapsed`.
   */
  recoverLapsed(limit: number): Promise<RecoverLapsedAnswer>;

  /** Marks an executor stopped; what it still holds is not touched. */
  retire(executorId: string): Promise<void>;

  /** Marks all active executors without a lease stopped, but for those that are alive: killed processes leave them behind. */
  retireUnleased(alive: readonly string[]): Promise<void>;

  /**
   * Starts due jobs, at most `limit`, of the given definitions only: each gets a new token, a counted start, progress 0 and
   * a running attempt, in one atom. No two callers get one job. Highest priority first, then the longest due, then the
   * oldest; an order within one answer, no promise between concurrent callers. Fewer than the limit is no promise that
   * nothing is left: another caller may hold it locked. With limit 0 nothing is started, only `nextDueAt` is read.
   */
  claim(request: ClaimRequest): Promise<ClaimAnswer>;

  /**
   * Starts one job if it is queued, due, has starts left, and its queue isn't paused and is below its cap, counted as a claim
   * does; null otherwise, and nothing was changed.
   */
  tryStart(key: JobKey, executorId: string): Promise<Attempt | null>;

  /**
   * Writes progress where the attempt owns its job, no cancel is requested, and the value is not below the stored one; on
   * job and attempt alike. Answers the attempt's status, and whether the value was written.
   */
  progress(reports: readonly ProgressReport[]): Promise<ProgressAnswer[]>;

  /** What an attempt's handler should know. A plain read that loads no payload; a stale token is `ended`. */
  status(attempts: readonly AttemptRef[]): Promise<AttemptStatus[]>;

  /**
   * Writes the outcomes of attempts: job and attempt change together, behind the token. The cancel mark is read by the same
   * write: where a cancel was committed first, the job is cancelled and has no result. A reschedule or snooze makes the job
   * queued again in the same atom. Settling again what ended as asked is `settled`, so an answer that was lost can be asked for again.
   * Each settlement is judged by itself; one that is lost takes no other with it, and of two for one attempt the first counts.
   */
  settle(settlements: readonly Settlement[]): Promise<SettleAnswer[]>;

  /**
   * Undoes claims whose handlers never began: the start doesn't count, the attempt's row is gone, the job is queued and due as
   * before; or cancelled, if that was requested meanwhile.
   */
  release(attempts: readonly AttemptRef[]): Promise<ReleaseAnswer[]>;

  /**
   * Ends attempts whose owner is gone or gives up, as interrupted, and decides the job in the same atom: cancelled if
   * requested, queued and due at once if it may be run again and has starts left, else interrupted. No reader ever sees a
   * job between the two.
   */
  recover(attempts: readonly AttemptRef[], how: Recovery): Promise<RecoverAnswer[]>;

  /** The running attempts, at most `limit`, in no promised order. */
  running(filter: RunningFilter): Promise<RunningAttempt[]>;

  /**
   * Cancels a job: one that hasn't started is cancelled at once, a running one gets the mark that its executor sees and that
   * its settlement obeys. Cancelling again changes nothing and answers the same.
   */
  cancel(key: JobKey, options: { readonly reason?: string; readonly actor?: string }): Promise<CancelAnswer>;

  /**
   * Looks at the parents of awaiting jobs and moves what can move: to queued when all have succeeded, to cancelled, with all
   * awaiting descendants, when one has failed, was cancelled or is gone. By state and idempotent, so it may be called at any
   * time by anybody; an interrupted parent keeps its children waiting. Without `keys` it looks at all awaiting jobs and
   * moves at most `limit`, their descendants not counted.
   */
  resolve(which: { readonly keys?: readonly JobKey[]; readonly limit: number }): Promise<ResolveAnswer>;

  /**
   * Queues a failed, cancelled or interrupted job again if it has starts left, with progress, error, mark and result
   * cleared; its attempts stay. Due at `at`, or now. Its parents are looked at again: it waits for those that are active.
   */
  retry(key: JobKey, options: { readonly at?: Micros; readonly actor?: string }): Promise<RetryAnswer>;

  /**
   * The same with a fresh budget, and due now: as many starts as were submitted are allowed again, no failure is counted, no
   * lifetime limits its retries. Once for all who ask at the same time. A repair is run in the place of the submitted payload
   * from then on, also after later retries, until the next one; identity never reads it, nor the queue that the job is moved to.
   *
   * @throws RepairMismatchError when the repair is of another definition than the job; nothing was changed
   */
  resurrect(key: JobKey, how: Resurrection): Promise<ResurrectAnswer>;

  /** Makes a queued job due now, also one that waits for a retry. Spends nothing. */
  runNow(key: JobKey, options?: { readonly actor?: string }): Promise<RunNowAnswer>;

  /** The job, or null. */
  get(key: JobKey): Promise<JobSnapshot | null>;

  /**
   * Deletes finished jobs that have been kept long enough, at most `limit`, those that ended first first, with their attempts and
   * all else that belongs to them; and executors that have been gone as long, at most `limit`. Never an unfinished job, nor one
   * that an awaiting job waits for. Each job is deleted as it is found or not at all: one that is retried at the same moment, or
   * held by anyone else, stays. A job that is gone is no longer recognised when its request comes again.
   */
  prune(policy: PrunePolicy): Promise<PruneAnswer>;

  /**
   * Deletes those of the given jobs that are in one of the states, however long, by the same rules.
   *
   * @returns how many there were
   */
  purge(keys: readonly JobKey[], states: readonly FinishedState[]): Promise<number>;

  /**
   * Calls the listener when something was committed that an executor wants to know at once. A hint, no promise.
   *
   * @returns ends it; resolves when no connection or timer of it is left
   */
  subscribe(listener: (hint: StoreHint) => void): () => Promise<void>;
}

/** What a store can do; constant for its life. */
export interface StoreCapabilities {
  /** Whose writes wake an executor: `local`, those of this process; `everywhere`, those of all. */
  readonly wakeUp: 'none' | 'local' | 'everywhere';
  /** Whether several processes may run executors on one database. */
  readonly severalProcesses: boolean;
}

export interface ExecutorRegistration {
  /** Unique for the life of the table. */
  readonly id: string;
  readonly name: string;
  readonly host: string;
  /** Null: without a lease, so never declared dead by others. */
  readonly leaseUntil: Micros | null;
  /** Definitions, queues and concurrency, for people. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export type RenewAnswer =
  | {
      readonly answer: 'renewed';
      readonly attempts: ReadonlyArray<{ readonly token: string; readonly status: AttemptStatus }>;
    }
  | { readonly answer: 'lapsed' };

export interface RecoverLapsedAnswer {
  /** The executors that this call declared dead. */
  readonly lapsed: readonly string[];
  /** The attempts that it recovered, each with what its job is now. */
  readonly recovered: readonly Recovered[];
}

export interface Recovered {
  readonly attempt: RunningAttempt;
  readonly state: 'queued' | 'interrupted' | 'cancelled';
}

export interface ClaimRequest {
  readonly executorId: string;
  readonly definitions: ReadonlyArray<{ readonly name: string; readonly version: string }>;
  /** Null: every queue. */
  readonly queues: readonly string[] | null;
  readonly limit: number;
  /**
   * Where the due jobs are, as a hint told. A store need look nowhere else then, and its answer's `nextDueAt` and `isHeldBack` are
   * of no account; it may also ignore this.
   */
  readonly lanes?: readonly DueLane[];
}

export interface ClaimAnswer {
  readonly attempts: Attempt[];
  /**
   * When to ask again: the next job that this request matches is not due before. Exact where nothing was started; now where
   * something was, as more may be due. In the past where another caller holds what is due. Null: none is queued.
   */
  readonly nextDueAt: Micros | null;
  /** Whether something due was held back by the cap of its queue: worth asking again when a job has ended. */
  readonly isHeldBack: boolean;
}

export interface ProgressReport extends AttemptRef, Progress {}

/** `active`: go on. `cancel_requested`: end soon. `ended`: the token is stale; stop. */
export type AttemptStatus = 'active' | 'cancel_requested' | 'ended';

export interface ProgressAnswer {
  readonly status: AttemptStatus;
  readonly written: boolean;
}

/**
 * `settled`: the attempt has ended and this is the job's state. `lost`: the token is stale, nothing was written.
 * `attempt_missing`: the attempt's row is gone, nothing was written.
 */
export type SettleAnswer =
  { readonly answer: 'settled'; readonly state: JobState } | { readonly answer: 'lost' | 'attempt_missing' };

export type ReleaseAnswer = 'released' | 'cancelled' | 'lost' | 'attempt_missing';

export interface Recovery {
  /** `declared`: as each job's `onInterrupt` says. */
  readonly requeue: 'declared' | 'always' | 'never';
  readonly reason: FailureReason;
}

export type RecoverAnswer = 'queued' | 'interrupted' | 'cancelled' | 'lost' | 'attempt_missing';

export interface RunningFilter {
  readonly executorId?: string;
  /** Only what is held by executors without a lease, or by nobody known. */
  readonly unleased?: boolean;
  readonly limit: number;
}

/** `cancelled`: it is, now or since before. `requested`: it runs, and was told. `finished`: too late, it had ended otherwise. */
export type CancelAnswer = 'cancelled' | 'requested' | 'finished' | 'not_found';
/** `awaiting`: it waits for its parents again. `parents_not_succeeded`: one of them has failed, was cancelled, or is gone. */
export type RetryAnswer =
  'queued' | 'awaiting' | 'no_starts_left' | 'not_finished' | 'succeeded' | 'parents_not_succeeded' | 'not_found';
/** A fresh budget is never spent. */
export type ResurrectAnswer = Exclude<RetryAnswer, 'no_starts_left'>;

export interface Resurrection {
  /** What to run instead of the submitted payload. Of the job's own definition. */
  readonly repair?: Pick<Submission, 'name' | 'version' | 'payload'>;
  readonly priority?: number;
  readonly queue?: string;
  readonly actor?: string;
}

export interface PrunePolicy {
  /** Jobs of a state that ended before this instant are deleted; null: none. */
  readonly finishedBefore: Readonly<Record<FinishedState, Micros | null>>;
  /** Likewise stopped and lapsed executors: by the end of their lease, or by their start if they had none. */
  readonly executorsBefore: Micros;
  readonly limit: number;
}

/** How many were deleted. */
export interface PruneAnswer {
  readonly jobs: number;
  readonly executors: number;
}

/** How many jobs were moved. */
export interface ResolveAnswer {
  readonly queued: number;
  readonly cancelled: number;
}
/** `due`: it is queued and due. */
export type RunNowAnswer = 'due' | 'not_queued' | 'not_found';

/**
 * `due`: jobs were committed that may be due; with `lanes`, these are new ones and nothing else became due. `recurring`: recurring jobs
 * were changed. `cancel`: a running job's cancel was committed. `room`: what ran below a cap has ended. `missed`: hints may have been lost.
 */
export type StoreHint =
  | { readonly kind: 'due'; readonly lanes?: readonly DueLane[] }
  | { readonly kind: 'recurring' }
  | { readonly kind: 'cancel'; readonly key: JobKey }
  | { readonly kind: 'room' }
  | { readonly kind: 'missed' };
