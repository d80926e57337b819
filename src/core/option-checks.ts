import { InvalidOptionError, InvalidSubmissionError } from './errors.ts';
import { checkedName } from './submission-checks.ts';
import { byteLength, isStorable } from './text.ts';
import { instantOf, type Micros } from './time.ts';

const maxReasonBytes = 1024;

/** @throws InvalidOptionError unless it is an integer from `min` to `max`; NaN, infinities and text are none */
export function checkedInteger(option: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    const rule = `be an integer from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}`;
    throw new InvalidOptionError(option, rule, value);
  }

  return value;
}

/** @throws InvalidOptionError unless it is text of 1 to 255 characters that every database keeps as it is */
export function checkedText(option: string, value: string): string {
  return asOption(option, value, text => checkedName(option, text));
}

/** @throws InvalidOptionError unless it is a Date that a column can hold */
export function checkedInstant(option: string, value: Date): Micros {
  const instant = instantOf(value);
  if (instant === null) {
    throw new InvalidOptionError(option, 'be a valid Date from 1970 to 2255', value);
  }

  return instant;
}

/** Why a job is cancelled, for people. @throws InvalidOptionError */
export function checkedReason(reason: string | undefined): string | undefined {
  if (
    reason !== undefined &&
    (typeof reason !== 'string' || !isStorable(reason) || byteLength(reason) > maxReasonBytes)
  ) {
    throw new InvalidOptionError('reason', 'be well-formed text without NUL, up to 1 KiB', reason);
  }

  return reason;
}

/** What a submission is checked by, for an option or an argument: the mistake is then the option's. */
export function asOption<V, T>(option: string, value: V, check: (value: V) => T): T {
  try {
    return check(value);
  } catch (error) {
    throw error instanceof InvalidSubmissionError ? new InvalidOptionError(option, error.rule, value) : error;
  }
}
