import { durationMs, type Duration } from './duration.ts';
import { InvalidSubmissionError } from './errors.ts';
import type { OnInterrupt } from './submission.ts';
import { byteLength, isStorable } from './text.ts';

const maxMetadataBytes = 65_536;

/** Names, versions, queues and keys: 1 to `max` characters that every database keeps as they are. */
export function checkedName(field: string, value: unknown, max = 255): string {
  if (typeof value !== 'string' || value.length === 0 || value.length > max || !isStorable(value)) {
    throw new InvalidSubmissionError(field, `be well-formed text of 1 to ${max} characters without NUL`);
  }

  return value;
}

export function checkedPriority(priority: unknown): number {
  if (!Number.isInteger(priority) || Math.abs(priority as number) > 2_147_483_647) {
    throw new InvalidSubmissionError('priority', 'be a 32-bit integer');
  }

  return priority as number;
}

export function checkedMaxAttempts(maxAttempts: unknown): number {
  // Snoozing and resurrecting raise the limit, so a million leaves room in a 32-bit column.
  if (!Number.isInteger(maxAttempts) || (maxAttempts as number) < 1 || (maxAttempts as number) > 1_000_000) {
    throw new InvalidSubmissionError('maxAttempts', 'be an integer from 1 to 1,000,000');
  }

  return maxAttempts as number;
}

export function checkedOnInterrupt(onInterrupt: unknown): OnInterrupt {
  if (onInterrupt !== 'hold' && onInterrupt !== 'requeue') {
    throw new InvalidSubmissionError('onInterrupt', `be 'hold' or 'requeue'`);
  }

  return onInterrupt;
}

export function checkedTimeout(timeout: Duration): number {
  const ms = asSubmission('timeout', () => durationMs(timeout, 'timeout'));
  if (ms < 1 || ms > 2_147_483_647) {
    throw new InvalidSubmissionError('timeout', 'be from 1 ms to 24 days');
  }

  return Math.round(ms);
}

/** @throws InvalidSubmissionError unless the id is 1 to 128 printable ASCII characters without spaces */
export function checkedId(id: unknown): string {
  if (typeof id !== 'string' || !/^[\x21-\x7e]{1,128}$/.test(id)) {
    throw new InvalidSubmissionError('id', 'be 1 to 128 printable ASCII characters without spaces');
  }

  return id;
}

/** An option that is wrong in a submission is the submission's error, with the field's name. */
export function asSubmission<T>(field: string, resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    const rule = (error as { rule?: string }).rule ?? 'be valid';
    throw new InvalidSubmissionError((error as { option?: string }).option ?? field, rule, { cause: error });
  }
}

export function checkedMetadata(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  // The entries of an array or a Map are not labels.
  const isRecord = typeof metadata === 'object' && metadata !== null && !(Symbol.iterator in metadata);
  const copy = isRecord ? Object.freeze(Object.fromEntries(Object.entries(metadata))) : null;

  if (copy === null || !Object.entries(copy).every(isLabel) || byteLength(JSON.stringify(copy)) > maxMetadataBytes) {
    throw new InvalidSubmissionError(
      'metadata',
      'be an object of well-formed strings without NUL, at most 64 KiB as JSON',
    );
  }

  return copy;
}

function isLabel([key, value]: readonly [string, unknown]): boolean {
  return isStorable(key) && typeof value === 'string' && isStorable(value);
}
