import type { AttemptRef, Progress, Settlement } from '../../core/attempt.ts';
import type { FailureReason } from '../../core/failure-reason.ts';
import type { ClaimRequest, Recovery } from '../../core/store.ts';
import type { FinishedState } from '../../core/states.ts';
import type { Micros } from '../../core/time.ts';
import type { NewJobRow } from '../job-row.ts';
import type { Row, Run, Session } from '../session.ts';
import type { Tables } from '../tables.ts';

/** A database's own way to make the moves that differ between databases. Rows come back raw, in no promised order. */
export interface SqlDialect {
  readonly name: 'postgresql' | 'sqlite';
  /** Whether it has LISTEN and NOTIFY. */
  readonly hasNotifications: boolean;
  /** Whether a transaction can be given an isolation level. */
  readonly hasIsolationLevels: boolean;
  /** Whether transactions that write wait for each other. */
  readonly hasOneWriter: boolean;
  /** Asked once, outside of a transaction. */
  setup(run: Run): Promise<DatabaseSetup>;
  /** What surrounds the statements of one of the library's own transactions. */
  transaction<T>(run: Run, work: (run: Run) => Promise<T>, setup: DatabaseSetup): Promise<T>;

  /** Inserts what is not there, by identity and by unique key; answers the keys of what it inserted. */
  insertJobs(run: Run, tables: Tables, rows: readonly NewJobRow[]): Promise<JobKeyRow[]>;
  /** Starts what is due in the given lanes. */
  claimJobs(session: Session, claim: Claim): Promise<Row[]>;
  /** Moves awaiting jobs whose parents have ended; answers the states that they have now. */
  resolveJobs(run: Run, tables: Tables, candidates: Candidates, now: Micros): Promise<ResolvedRow[]>;
  /** Tells those who are ending the parents of committed jobs that these wait; waits for an end that is under way. */
  touchParents(run: Run, tables: Tables, children: readonly RowKey[]): Promise<void>;
  /** Locks the rows of capped queues until the transaction's end. */
  lockQueues(run: Run, tables: Tables, names: readonly string[]): Promise<Row[]>;
  startJob(session: Session, start: Start): Promise<Row | undefined>;
  /** This one and what follows take every attempt once, and answer the attempts that they wrote to. */
  progress(session: Session, reports: ReadonlyArray<AttemptRef & Progress>): Promise<AttemptRow[]>;
  settle(session: Session, settlements: readonly Settlement[], now: Micros): Promise<EndedRow[]>;
  release(session: Session, attempts: readonly AttemptRef[], now: Micros): Promise<EndedRow[]>;
  recover(session: Session, attempts: readonly AttemptRef[], how: Recovery, now: Micros): Promise<EndedRow[]>;
  /** Deletes finished jobs with all that belongs to them; answers the states that they had. */
  deleteFinished(session: Session, doomed: Doomed): Promise<MovedRow[]>;
}

/** How a database is set up, where the library's transactions depend on it. */
export interface DatabaseSetup {
  /** Whether a single writing statement has to stand in a transaction of ours to behave as READ COMMITTED does. */
  readonly needsTransaction: boolean;
  /** Whether a commit may wait for others that only read. */
  readonly hasWaitingCommit: boolean;
  /** Whether a read may wait for others that write, and everything else in the process with it. */
  readonly hasWaitingRead: boolean;
}

/** A job's key as the tables have it. */
export type RowKey = readonly [scopeHash: string, id: string];

export interface JobKeyRow extends Row {
  readonly scope_hash: string;
  readonly id: string;
}

/** A lane: the jobs of one queue, definition and priority. Within it, what is due first comes first. */
export interface Lane {
  readonly queue: string;
  readonly name: string;
  readonly version: string;
  readonly priority: number;
  /** Whether its queue's row is locked and its jobs counted: only then may a capped queue be claimed from. */
  readonly isCapped: boolean;
}

export interface Claim {
  readonly lanes: readonly Lane[];
  /** A place in the only lane: what was due before it was claimed, or is held. SQLite has no use for it. */
  readonly from?: LanePlace | null;
  readonly executorId: string;
  readonly limit: number;
  readonly now: Micros;
}

/** Where in a lane a job stands. */
export interface LanePlace {
  readonly nextRunAt: Micros;
  readonly createdAt: Micros;
}

export interface Start {
  readonly scopeHash: string;
  readonly id: string;
  readonly executorId: string;
  readonly token: string;
  readonly now: Micros;
  /** The queue whose row is locked and whose jobs are counted: only from it may a job be started below a cap. */
  readonly lockedQueue: string | null;
}

/** Which awaiting jobs a resolve looks at: some, the children of some, or all; it moves at most so many. */
export type Candidates = { readonly limit: number } & (
  | { readonly of: 'keys' | 'children'; readonly keys: readonly RowKey[] }
  | { readonly of: 'all'; readonly keys?: undefined }
);

/** Finished jobs that are to be deleted: those of a state that ended before an instant, the first ones first, or some of them. */
export type Doomed =
  | { readonly of: 'state'; readonly state: FinishedState; readonly before: Micros; readonly limit: number }
  | {
      readonly of: 'keys';
      readonly keys: ReadonlyArray<readonly [scopeHash: string, id: string]>;
      readonly states: readonly FinishedState[];
    };

/** A job that was moved, and the state that it has now. */
export interface MovedRow extends JobKeyRow {
  readonly state: string;
}

/** A job that waited for parents and was moved, with what is told of it. */
export interface ResolvedRow extends MovedRow {
  readonly state: 'queued' | 'cancelled';
  readonly scope: string;
  readonly name: string;
  readonly version: string;
  readonly queue: string;
}

export interface AttemptRow extends JobKeyRow {
  readonly ordinal: number;
  readonly token: string;
}

/** An attempt that was ended, the state that its job has now, and whether other jobs may wait for that one. */
export interface EndedRow extends AttemptRow {
  readonly state: string;
  /** A number on SQLite. */
  readonly is_parent: boolean | number;
}

export type LookRequest = Pick<ClaimRequest, 'definitions' | 'queues'>;

/** A settlement as the statements take it: flat, without what its outcome doesn't have, as most of a group would be nulls. */
export interface SettlementRow {
  readonly scope_hash: string;
  readonly id: string;
  readonly ordinal: number;
  readonly token: string;
  readonly outcome: Settlement['outcome'];
  readonly new_progress?: number;
  readonly new_message?: string;
  readonly new_result_ref?: string;
  readonly new_reason?: FailureReason;
  readonly new_error?: string;
  readonly new_next_run_at?: Micros;
}
