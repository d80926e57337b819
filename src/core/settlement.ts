import type { Attempt, AttemptRef, Progress, Settlement } from './attempt.ts';
import { classify } from './classification.ts';
import { errorText } from './error-text.ts';
import type { FailureReason } from './failure-reason.ts';
import { ResultInvalidError } from './handler-errors.ts';
import type { Outcome } from './outcome.ts';
import { retryDelayMs, type ResolvedRetryPolicy } from './retry-policy.ts';
import { isStorable } from './text.ts';
import { latestInstant, microsOfMs, type Micros } from './time.ts';

export const maxResultRefLength = 2048;
const hourInMs = 3_600_000;

/** What a decision needs beside the attempt and its outcome. */
export interface SettlementContext {
  readonly policy: ResolvedRetryPolicy | false;
  readonly progress: Progress | null;
  readonly now: Micros;
  /** From 0 (inclusive) to 1. */
  readonly random: number;
}

/** The engine's decision: what to write for an attempt that ended like this. Pure; the store only applies it. */
export function settlementFor(attempt: Attempt, outcome: Outcome, context: SettlementContext): Settlement {
  switch (outcome.kind) {
    case 'returned':
      return returned(attempt, outcome.value, context);
    case 'threw':
      return threw(attempt, outcome.error, context);
    case 'payload_invalid':
      return failed(attempt, 'payload_invalid', outcome.error, context);
    case 'timed_out':
      return failed(attempt, 'timeout', outcome.error, context);
    case 'cancelled':
      // The mark is in the database, so this is stored as cancelled.
      return {
        ...base(attempt, context),
        outcome: 'interrupted',
        failureReason: 'cancel_requested',
        error: errorText(outcome.error),
      };
  }
}

function returned(attempt: Attempt, value: unknown, context: SettlementContext): Settlement {
  const resultRef = value ?? null;

  if (
    resultRef === null ||
    (typeof resultRef === 'string' && resultRef.length <= maxResultRefLength && isStorable(resultRef))
  ) {
    return { ...base(attempt, context), outcome: 'succeeded', resultRef };
  }

  const error = new ResultInvalidError(
    `A handler returns nothing or a result reference: well-formed text of at most ${maxResultRefLength} characters without NUL; ` +
      `it returned ${kindOf(resultRef)}.`,
  );

  return failed(attempt, 'result_invalid', error, context);
}

/** What it is, never what it says. */
function kindOf(value: NonNullable<unknown>): string {
  return typeof value === 'string' ? `text of ${value.length} characters` : `a value of type ${typeof value}`;
}

function threw(attempt: Attempt, error: unknown, context: SettlementContext): Settlement {
  const asked = classify(error, context.now);

  switch (asked.kind) {
    case 'permanent':
      return failed(attempt, 'permanent_error', error, context);
    case 'result_invalid':
      return failed(attempt, 'result_invalid', error, context);
    case 'snoozed':
      return { ...base(attempt, context), outcome: 'snoozed', nextRunAt: Math.min(asked.at, latestInstant) };
    case 'throttled':
      return rescheduled(attempt, 'throttled', error, context, policy => {
        const longest = context.now + microsOfMs(Math.max(policy.capMs, hourInMs));
        return Math.min(asked.at, longest);
      });
    case 'transient':
      return rescheduled(attempt, 'handler_error', error, context, policy => {
        return context.now + microsOfMs(retryDelayMs(policy, attempt.failureCount + 1, context.random));
      });
  }
}

function rescheduled(
  attempt: Attempt,
  failureReason: FailureReason,
  error: unknown,
  context: SettlementContext,
  nextRunFor: (policy: ResolvedRetryPolicy) => Micros,
): Settlement {
  if (context.policy === false) {
    return failed(attempt, failureReason, error, context);
  }
  if (attempt.attempt >= attempt.attemptLimit) {
    return failed(attempt, failureReason === 'throttled' ? 'throttled' : 'attempts_exhausted', error, context);
  }

  const nextRunAt = nextRunFor(context.policy);
  if (attempt.retryUntil !== null && nextRunAt > attempt.retryUntil) {
    return failed(attempt, 'retry_lifetime_expired', error, context);
  }

  return { ...base(attempt, context), outcome: 'rescheduled', nextRunAt, failureReason, error: errorText(error) };
}

function failed(
  attempt: Attempt,
  failureReason: FailureReason,
  error: unknown,
  context: SettlementContext,
): Settlement {
  return { ...base(attempt, context), outcome: 'failed', failureReason, error: errorText(error) };
}

function base(
  { scope, id, attempt, token }: Attempt,
  { progress }: SettlementContext,
): AttemptRef & { progress: Progress | null } {
  return { scope, id, attempt, token, progress };
}
