import type { AttemptRef, Settlement } from '../core/attempt.ts';
import type { AttemptState, JobState } from '../core/states.ts';
import type { AttemptStatus } from '../core/store.ts';
import { attemptKey, attemptRowKey } from './job-row.ts';
import type { Row } from './session.ts';
import type { AttemptRow } from './sql/dialect.ts';

/** What `attemptFates` reads of an attempt. */
export interface AttemptFate {
  /** Null: there is no such attempt row, or the token is another one's. */
  readonly attemptState: AttemptState | null;
  readonly failureReason: unknown;
  readonly error: unknown;
  readonly resultRef: unknown;
  /** Whether the job still runs in this attempt. */
  readonly isOwner: boolean;
  readonly isCancelRequested: boolean;
  /** Whether it left its job queued; null: the job has moved on since, nobody knows. */
  readonly hasRequeued: boolean | null;
}

const unknownAttempt: AttemptFate = {
  attemptState: null,
  failureReason: null,
  error: null,
  resultRef: null,
  isOwner: false,
  isCancelRequested: false,
  hasRequeued: null,
};

/** Fates by attempt. */
export function fatesByAttempt(rows: readonly Row[]): (attempt: AttemptRef) => AttemptFate {
  const fates = new Map(rows.map(row => [attemptRowKey(row as AttemptRow), toAttemptFate(row)]));
  return attempt => fates.get(attemptRowKey(attemptKey(attempt))) ?? unknownAttempt;
}

export function statusOf({ attemptState, isOwner, isCancelRequested }: AttemptFate): AttemptStatus {
  if (!isOwner || attemptState !== 'running') {
    return 'ended';
  }

  return isCancelRequested ? 'cancel_requested' : 'active';
}

/** Why a move found nothing to end: the attempt doesn't own the job any more, or its row was deleted while it does. */
export function whyNotEnded({ attemptState, isOwner }: AttemptFate): 'lost' | 'attempt_missing' {
  return isOwner && attemptState === null ? 'attempt_missing' : 'lost';
}

/** The state that an earlier, unanswered write of this same settlement reached; null: it ended otherwise, or not at all. */
export function stateSettledBefore(settlement: Settlement, fate: AttemptFate): JobState | null {
  if (fate.isOwner) {
    return null;
  }
  if (fate.attemptState === 'cancelled') {
    return 'cancelled';
  }

  const { outcome } = settlement;
  const reached = outcome === 'rescheduled' || outcome === 'snoozed' ? 'queued' : outcome;
  // The attempt is the same whether its job ended or was queued again; only the job tells.
  const isOtherMove = fate.hasRequeued === (reached !== 'queued');

  return hasWritten(settlement, fate) && !isOtherMove ? reached : null;
}

function hasWritten(settlement: Settlement, fate: AttemptFate): boolean {
  const { outcome } = settlement;

  return (
    fate.attemptState === (outcome === 'rescheduled' ? 'failed' : outcome) &&
    fate.resultRef === (outcome === 'succeeded' ? settlement.resultRef : null) &&
    fate.failureReason === ('failureReason' in settlement ? settlement.failureReason : null) &&
    fate.error === ('error' in settlement ? settlement.error : null)
  );
}

function toAttemptFate(row: Row): AttemptFate {
  return {
    attemptState: row.attempt_state as AttemptState | null,
    failureReason: row.failure_reason,
    error: row.error,
    resultRef: row.result_ref,
    isOwner: row.job_state === 'running' && row.owner === row.token && isLatest(row),
    isCancelRequested: row.cancel_requested_at !== null,
    hasRequeued: hasRequeued(row),
  };
}

function hasRequeued(row: Row): boolean | null {
  if (!isLatest(row)) {
    return null;
  }

  switch (row.job_state) {
    case 'queued':
      // A retry clears the reason.
      return row.job_reason === null ? null : true;
    case 'failed':
    case 'interrupted':
      return false;
    default:
      return null;
  }
}

function isLatest(row: Row): boolean {
  return row.attempt_count === row.ordinal;
}
