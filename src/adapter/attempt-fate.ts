import type { AttemptRef, Settlement } from '../core/attempt.ts';
import type { AttemptState, JobState } from '../core/states.ts';
import type { AttemptStatus } from '../core/store.ts';
import type { Row } from './session.ts';

/** What `attemptFates` reads of an attempt. */
export interface AttemptFate {
  /** Null: there is no such attempt row, or the token is another one's. */
  readonly attemptState: AttemptState | null;
  /** Whether the job still names this attempt's token. */
  readonly isOwner: boolean;
  readonly isCancelRequested: boolean;
}

export function toAttemptFate(row: Row): AttemptFate {
  return {
    attemptState: row.attempt_state as AttemptState | null,
    isOwner: row.job_state === 'running' && row.owner === row.token,
    isCancelRequested: row.cancel_requested_at !== null,
  };
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
export function stateSettledBefore({ outcome }: Settlement, { attemptState }: AttemptFate): JobState | null {
  if (attemptState === 'cancelled') {
    return 'cancelled';
  }
  if (attemptState !== attemptStateFor(outcome)) {
    return null;
  }

  return outcome === 'rescheduled' || outcome === 'snoozed' ? 'queued' : outcome;
}

function attemptStateFor(outcome: Settlement['outcome']): AttemptState {
  return outcome === 'rescheduled' ? 'failed' : outcome;
}

/** Attempts and their fates by token: a token is one attempt's alone. */
export function fatesByToken(rows: readonly Row[]): (attempt: AttemptRef) => AttemptFate {
  const fates = new Map(rows.map(row => [row.token as string, toAttemptFate(row)]));
  return ({ token }) => fates.get(token) ?? { attemptState: null, isOwner: false, isCancelRequested: false };
}
