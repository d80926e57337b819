import type { Attempt, AttemptRef, RunningAttempt } from '../core/attempt.ts';
import type { FailureReason } from '../core/failure-reason.ts';
import type { JobKey } from '../core/job-key.ts';
import type { ResolvedRetryPolicy } from '../core/retry-policy.ts';
import { scopeHash, uniqueHash } from '../core/scope.ts';
import type { AttemptSnapshot, JobSnapshot } from '../core/snapshot.ts';
import type { AttemptState, JobState } from '../core/states.ts';
import type { OnInterrupt, Submission } from '../core/submission.ts';
import { dateOf, microsOf, microsOfMs, type Micros } from '../core/time.ts';
import { traceContextOf, type TraceContext } from '../core/trace-context.ts';
import type { Row } from './session.ts';
import { Raw } from './sql/statement.ts';

/** The columns of a job as it is inserted; what isn't named is null. */
export interface NewJobRow {
  readonly scope_hash: string;
  readonly id: string;
  readonly scope: string;
  readonly name: string;
  readonly version: string;
  readonly payload: string;
  readonly queue: string;
  readonly priority: number;
  readonly max_attempts: number;
  readonly attempt_limit: number;
  readonly initial_not_before: Micros | null;
  readonly next_run_at: Micros;
  readonly state: 'queued' | 'awaiting';
  readonly attempt_count: number;
  readonly failure_count: number;
  readonly on_interrupt: OnInterrupt;
  readonly timeout_ms: number | null;
  readonly retry_policy: string | null;
  readonly retry_until: Micros | null;
  readonly progress: number;
  readonly unique_key: string | null;
  readonly unique_hash: string | null;
  readonly metadata: string | null;
  readonly recurring_id: string | null;
  readonly trace_parent: string | null;
  readonly trace_state: string | null;
  readonly revision: number;
  readonly created_at: Micros;
}

/** Due by the wall time, ordered by the creation time, which may be a little ahead of it. */
export function newJobRow(
  submission: Submission,
  { now, createdAt }: { readonly now: Micros; readonly createdAt: Micros },
  recurringId: string | null,
): NewJobRow {
  const notBefore = submission.notBefore === null ? null : microsOf(submission.notBefore);
  const firstDue = notBefore ?? now;

  return {
    scope_hash: scopeHash(submission.scope),
    id: submission.id,
    scope: submission.scope,
    name: submission.name,
    version: submission.version,
    payload: submission.payload,
    queue: submission.queue,
    priority: submission.priority,
    max_attempts: submission.maxAttempts,
    attempt_limit: submission.maxAttempts,
    initial_not_before: notBefore,
    next_run_at: firstDue,
    state: submission.after.length === 0 ? 'queued' : 'awaiting',
    attempt_count: 0,
    failure_count: 0,
    on_interrupt: submission.onInterrupt,
    timeout_ms: submission.timeoutMs,
    retry_policy: submission.retryPolicy === null ? null : JSON.stringify(submission.retryPolicy),
    retry_until: submission.lifetimeMs === null ? null : Math.max(firstDue, now) + microsOfMs(submission.lifetimeMs),
    progress: 0,
    unique_key: submission.uniqueKey,
    unique_hash: submission.uniqueKey === null ? null : uniqueHash(submission.scope, submission.uniqueKey),
    metadata: submission.metadata === null ? null : JSON.stringify(submission.metadata),
    recurring_id: recurringId,
    trace_parent: submission.trace?.traceParent ?? null,
    trace_state: submission.trace?.traceState ?? null,
    revision: 1,
    created_at: createdAt,
  };
}

/** What the database now holds for a row that it has just inserted, without reading it back. */
export function snapshotOfNew(row: NewJobRow): JobSnapshot {
  return toSnapshot(row as unknown as Row);
}

const plainSnapshotColumns = [
  'scope', 'id', 'name', 'version', 'queue', 'initial_queue', 'priority', 'state', 'attempt_count', 'failure_count', 'max_attempts',
  'attempt_limit', 'on_interrupt', 'progress', 'progress_message', 'result_ref', 'failure_reason', 'last_error', 'cancel_requested_at',
  'cancel_reason', 'unique_key', 'changed_by', 'metadata', 'recurring_id', 'initial_not_before', 'next_run_at', 'created_at',
  'finished_at', 'revision',
]; // prettier-ignore

/** What a snapshot reads of a table, or of its alias; never a payload. */
export function snapshotColumns(alias?: string): Raw {
  const prefix = alias === undefined ? '' : `${alias}.`;
  const columns = plainSnapshotColumns.map(column => prefix + column);

  return new Raw(`${columns.join(', ')}, ${prefix}payload_override is not null as is_repaired`);
}

export function toSnapshot(row: Row): JobSnapshot {
  return Object.freeze({
    scope: row.scope as string,
    id: row.id as string,
    name: row.name as string,
    version: row.version as string,
    queue: row.queue as string,
    priority: Number(row.priority),
    state: row.state as JobState,
    attemptCount: Number(row.attempt_count),
    failureCount: Number(row.failure_count),
    maxAttempts: Number(row.max_attempts),
    attemptLimit: Number(row.attempt_limit),
    onInterrupt: row.on_interrupt as OnInterrupt,
    progress: Number(row.progress),
    progressMessage: textOrNull(row.progress_message),
    resultRef: textOrNull(row.result_ref),
    failureReason: textOrNull(row.failure_reason) as FailureReason | null,
    lastError: textOrNull(row.last_error),
    cancelRequestedAt: dateOrNull(row.cancel_requested_at),
    cancelReason: textOrNull(row.cancel_reason),
    uniqueKey: textOrNull(row.unique_key),
    isRepaired: Boolean(row.is_repaired),
    changedBy: textOrNull(row.changed_by),
    metadata: toMetadata(row.metadata),
    recurringId: textOrNull(row.recurring_id),
    notBefore: dateOrNull(row.initial_not_before),
    nextRunAt: dateOf(Number(row.next_run_at)),
    createdAt: dateOf(Number(row.created_at)),
    finishedAt: dateOrNull(row.finished_at),
    revision: Number(row.revision),
  });
}

/** What a start answers; the same list on every dialect. */
export const attemptColumns = new Raw(
  `scope_hash, scope, id, attempt_count, attempt_token, name, version, queue, priority, coalesce(payload_override, payload) as payload,
   max_attempts, attempt_limit, failure_count, on_interrupt, timeout_ms, retry_policy, retry_until, next_run_at, metadata, trace_parent, trace_state,
   created_at`,
);

export function toAttempt(row: Row, startedAt: Micros): Attempt {
  return Object.freeze({
    scope: row.scope as string,
    id: row.id as string,
    attempt: Number(row.attempt_count),
    token: row.attempt_token as string,
    name: row.name as string,
    version: row.version as string,
    queue: row.queue as string,
    priority: Number(row.priority),
    payload: row.payload as string,
    maxAttempts: Number(row.max_attempts),
    attemptLimit: Number(row.attempt_limit),
    failureCount: Number(row.failure_count),
    onInterrupt: row.on_interrupt as OnInterrupt,
    timeoutMs: numberOrNull(row.timeout_ms),
    retryPolicy:
      row.retry_policy === null ? null : (JSON.parse(row.retry_policy as string) as ResolvedRetryPolicy | false),
    retryUntil: numberOrNull(row.retry_until),
    scheduledFor: Number(row.next_run_at),
    metadata: toMetadata(row.metadata),
    trace: toTrace(row),
    startedAt,
  });
}

export function toRunningAttempt(row: Row): RunningAttempt {
  return {
    scope: row.scope as string,
    id: row.id as string,
    attempt: Number(row.attempt_count),
    token: row.attempt_token as string,
    name: row.name as string,
    version: row.version as string,
    queue: row.queue as string,
    executorId: row.executor_id as string,
    onInterrupt: row.on_interrupt as OnInterrupt,
  };
}

export function toAttemptSnapshot(key: JobKey, row: Row): AttemptSnapshot {
  return Object.freeze({
    scope: key.scope,
    id: key.id,
    attempt: Number(row.ordinal),
    state: row.state as AttemptState,
    executorId: row.executor_id as string,
    progress: Number(row.progress),
    progressMessage: textOrNull(row.progress_message),
    failureReason: textOrNull(row.failure_reason) as FailureReason | null,
    error: textOrNull(row.error),
    resultRef: textOrNull(row.result_ref),
    startedAt: dateOf(Number(row.started_at)),
    endedAt: dateOrNull(row.ended_at),
  });
}

/** An attempt as the statements address it. */
export function attemptKey({ scope, id, attempt, token }: AttemptRef) {
  return { scope_hash: scopeHash(scope), id, ordinal: attempt, token };
}

/** One key for an attempt, to match answers with what was asked: one job's stale attempt and its owner may be asked about together. */
export function attemptRowKey({ scope_hash, id, ordinal, token }: ReturnType<typeof attemptKey>): string {
  return `${scope_hash}/${id}/${ordinal}/${token}`;
}

/** One key for a job, likewise. */
export function rowKey({ scope_hash, id }: { readonly scope_hash: string; readonly id: string }): string {
  return `${scope_hash}/${id}`;
}

export function attemptRefKey(attempt: AttemptRef): string {
  return attemptRowKey(attemptKey(attempt));
}

/** Highest priority, longest due, oldest: what was claimed together begins in this order. */
export function byClaimOrder(a: Row, b: Row): number {
  return (
    Number(b.priority) - Number(a.priority) ||
    Number(a.next_run_at) - Number(b.next_run_at) ||
    Number(a.created_at) - Number(b.created_at)
  );
}

function toMetadata(value: unknown): Readonly<Record<string, string>> {
  return Object.freeze(typeof value === 'string' ? (JSON.parse(value) as Record<string, string>) : {});
}

/** As it was stored; only what is a trace context is. */
function toTrace({ trace_parent: traceParent, trace_state: traceState }: Row): TraceContext | null {
  return traceParent === null ? null : traceContextOf({ traceParent, traceState });
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function dateOrNull(value: unknown): Date | null {
  const micros = numberOrNull(value);
  return micros === null ? null : dateOf(micros);
}
