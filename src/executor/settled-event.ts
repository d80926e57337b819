import type { Attempt, Settlement } from '../core/attempt.ts';
import type { JobsEvent } from '../core/events.ts';
import type { JobState } from '../core/states.ts';
import { dateOf, type Micros } from '../core/time.ts';
import { eventAttempt } from './attempt-fields.ts';

/** An attempt that has ended, on its way to the store. */
export interface Ended {
  readonly attempt: Attempt;
  readonly settlement: Settlement;
  readonly endedAt: Micros;
}

export function settledEvent({ attempt, settlement, endedAt }: Ended, state: JobState): JobsEvent<'attempt_settled'> {
  return {
    event: 'attempt_settled',
    ...eventAttempt(attempt),
    outcome: settlement.outcome,
    state,
    failureReason: 'failureReason' in settlement ? settlement.failureReason : null,
    error: 'error' in settlement ? settlement.error : null,
    // A cancel that came first leaves no next start.
    nextRunAt: 'nextRunAt' in settlement && state === 'queued' ? dateOf(settlement.nextRunAt) : null,
    waitMs: waitMsOf(attempt),
    runMs: msBetween(attempt.startedAt, endedAt),
  };
}

export function waitMsOf({ scheduledFor, startedAt }: Attempt): number {
  return msBetween(scheduledFor, startedAt);
}

/** Two processes' clocks may disagree; a duration is none the less not negative. */
function msBetween(from: Micros, to: Micros): number {
  return Math.max(0, to - from) / 1000;
}
