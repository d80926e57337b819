import type { FailureReason } from '../core/failure-reason.ts';
import type { JobKey } from '../core/job-key.ts';
import type { ResolvedRetryPolicy } from '../core/retry-policy.ts';
import type { JobState } from '../core/states.ts';
import type { OnInterrupt, Submission } from '../core/submission.ts';
import { microsOf, microsOfMs, type Micros } from '../core/time.ts';
import type { TraceContext } from '../core/trace-context.ts';
import { uniqueKeyOf } from './keys.ts';

/** A job as it is kept: frozen, plain, instants in microseconds. */
export interface StoredJob extends JobKey {
  readonly name: string;
  readonly version: string;
  readonly payload: string;
  /** What an operator put in its place; run instead of it, never compared. */
  readonly payloadOverride: string | null;
  readonly queue: string;
  /** The queue as submitted, if an operator has moved the job since. */
  readonly initialQueue: string | null;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly attemptLimit: number;
  readonly notBefore: Micros | null;
  readonly nextRunAt: Micros;
  readonly state: JobState;
  readonly attemptCount: number;
  readonly failureCount: number;
  /** The fence; set while it runs. */
  readonly token: string | null;
  readonly executorId: string | null;
  readonly onInterrupt: OnInterrupt;
  readonly timeoutMs: number | null;
  readonly retryPolicy: ResolvedRetryPolicy | false | null;
  readonly retryUntil: Micros | null;
  readonly progress: number;
  readonly progressMessage: string | null;
  readonly cancelRequestedAt: Micros | null;
  readonly cancelReason: string | null;
  readonly resultRef: string | null;
  readonly failureReason: FailureReason | null;
  readonly lastError: string | null;
  readonly uniqueKey: string | null;
  /** What it holds of its unique key; null once it has ended, and a retry doesn't take it back. */
  readonly heldKey: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly recurringId: string | null;
  readonly trace: TraceContext | null;
  readonly changedBy: string | null;
  /** The ids of its parents. */
  readonly after: readonly string[];
  readonly createdAt: Micros;
  readonly finishedAt: Micros | null;
  readonly revision: number;
}

/** Due by the wall time, ordered by the creation time, which may be a little ahead of it. */
export function newJob(
  submission: Submission,
  { now, createdAt }: { readonly now: Micros; readonly createdAt: Micros },
  recurringId: string | null,
): StoredJob {
  const { scope, id, name, version, payload, queue, priority, maxAttempts, onInterrupt, timeoutMs } = submission;
  const { retryPolicy, lifetimeMs, uniqueKey, trace } = submission;
  const notBefore = submission.notBefore === null ? null : microsOf(submission.notBefore);
  const firstDue = notBefore ?? now;

  return {
    scope, id, name, version, payload, queue, priority, maxAttempts, onInterrupt, timeoutMs, uniqueKey, recurringId, trace, notBefore, createdAt,
    payloadOverride: null,
    initialQueue: null,
    changedBy: null,
    attemptLimit: maxAttempts,
    nextRunAt: firstDue,
    state: submission.after.length === 0 ? 'queued' : 'awaiting',
    attemptCount: 0,
    failureCount: 0,
    token: null,
    executorId: null,
    retryPolicy: retryPolicy === null || retryPolicy === false ? retryPolicy : Object.freeze({ ...retryPolicy }),
    retryUntil: lifetimeMs === null ? null : Math.max(firstDue, now) + microsOfMs(lifetimeMs),
    progress: 0,
    progressMessage: null,
    cancelRequestedAt: null,
    cancelReason: null,
    resultRef: null,
    failureReason: null,
    lastError: null,
    heldKey: uniqueKey === null ? null : uniqueKeyOf(scope, uniqueKey),
    metadata: Object.freeze({ ...submission.metadata }),
    after: Object.freeze([...submission.after]),
    finishedAt: null,
    revision: 1,
  }; // prettier-ignore
}
