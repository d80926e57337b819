import type { FailureReason } from './failure-reason.ts';
import type { JobKey } from './job-key.ts';
import type { ResolvedRetryPolicy } from './retry-policy.ts';
import type { OnInterrupt } from './submission.ts';
import type { Micros } from './time.ts';
import type { TraceContext } from './trace-context.ts';

/** Addresses one attempt: the job, which start of it, and the token that only this attempt holds. */
export interface AttemptRef extends JobKey {
  /** 1 for the first start. */
  readonly attempt: number;
  /** The fence: a UUIDv4 made by the start. Whoever holds it owns the job until the attempt has ended. */
  readonly token: string;
}

/** A started attempt, with all that its executor needs. Times are microseconds. */
export interface Attempt extends AttemptRef {
  readonly name: string;
  readonly version: string;
  readonly queue: string;
  readonly priority: number;
  /** What to run: an operator's repair where there is one, else the text as submitted. */
  readonly payload: string;
  readonly maxAttempts: number;
  readonly attemptLimit: number;
  readonly failureCount: number;
  readonly onInterrupt: OnInterrupt;
  /** Null: as the definition says. */
  readonly timeoutMs: number | null;
  /** Null: as the definition says. */
  readonly retryPolicy: ResolvedRetryPolicy | false | null;
  readonly retryUntil: Micros | null;
  readonly scheduledFor: Micros;
  readonly metadata: Readonly<Record<string, string>>;
  /** As submitted. */
  readonly trace: TraceContext | null;
  readonly startedAt: Micros;
}

/** An attempt that the database calls running, as recovery sees it. */
export interface RunningAttempt extends AttemptRef {
  readonly name: string;
  readonly version: string;
  readonly queue: string;
  readonly executorId: string;
  readonly onInterrupt: OnInterrupt;
}

/** The last progress of an attempt; it travels with its settlement. */
export interface Progress {
  /** 0 to 100. */
  readonly value: number;
  readonly message: string | null;
}

/** What a settlement says of an attempt. The store judges only the token and the cancel mark. */
export type Settlement = AttemptRef & { readonly progress: Progress | null } & (
    | { readonly outcome: 'succeeded'; readonly resultRef: string | null }
    | {
        readonly outcome: 'failed' | 'interrupted';
        readonly failureReason: FailureReason;
        readonly error: string | null;
      }
    | {
        readonly outcome: 'rescheduled';
        readonly nextRunAt: Micros;
        readonly failureReason: FailureReason;
        readonly error: string | null;
      }
    | { readonly outcome: 'snoozed'; readonly nextRunAt: Micros }
  );
export type SettlementOutcome = Settlement['outcome'];
