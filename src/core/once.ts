import { durationMs, type Duration } from './duration.ts';
import { InvalidOptionError } from './errors.ts';
import { ResultInvalidError } from './handler-errors.ts';
import { checkKnown } from './known-options.ts';
import { jsonText } from './payload.ts';
import { byteLength, isStorable } from './text.ts';

export interface OnceOptions {
  /** How long what the work gave is kept, and the work not done again; 1 ms to 100 years. */
  readonly ttl: Duration;
  /**
   * How long others wait for an attempt that is at work and goes on running; 1 ms to 100 years. After that the work may run
   * beside it, so it must exceed the longest time that the work can take. Nobody waits so long for an attempt that has
   * ended, its process killed for example. @default '1d'
   */
  readonly claimTtl?: Duration;
}

/** What JSON makes of a value, and so what `job.once` gives: a Date is a string, what has a `toJSON` is what that returns. */
export type FromJson<T> = 0 extends 1 & T
  ? T
  : T extends { toJSON(...args: never): infer Json }
    ? FromJson<Json>
    : T extends string | number | boolean | null | undefined | void
      ? T
      : T extends bigint | symbol | ((...args: never) => unknown)
        ? never
        : T extends object
          ? { [Key in keyof T]: FromJson<T[Key]> }
          : T;

/** 2 s for the first start, twice as long for each later one, at most a minute: each look costs a start. */
export function waitForKeyMs(attempt: number): number {
  return Math.min(60_000, 1000 * 2 ** attempt);
}

const maxValueBytes = 1_000_000;

/** @throws InvalidOptionError for a key, options or work that can't be */
export function resolveOnce(
  key: unknown,
  options: OnceOptions,
  work: unknown,
): { readonly ttlMs: number; readonly claimTtlMs: number } {
  if (typeof key !== 'string' || key.length === 0 || key.length > 255 || !isStorable(key)) {
    throw new InvalidOptionError('key', 'be well-formed text of 1 to 255 characters without NUL', key);
  }
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError('options', `be an object such as { ttl: '30d' }`, options);
  }
  if (typeof work !== 'function') {
    throw new InvalidOptionError('work', 'be a function', work);
  }

  checkKnown(options, ['ttl', 'claimTtl']);
  const { ttl, claimTtl = '1d' } = options;
  return { ttlMs: ttlMs('ttl', ttl), claimTtlMs: ttlMs('claimTtl', claimTtl) };
}

/** The JSON text of what the work gave; null: nothing. @throws ResultInvalidError */
export function valueText(key: string, value: unknown): string | null {
  if (value === undefined) {
    return null;
  }

  let text: string;
  try {
    text = jsonText(value);
  } catch (cause) {
    throw new ResultInvalidError(`What the work under the key "${key}" gave can't be stored: it is no JSON.`, {
      cause,
    });
  }
  if (byteLength(text) > maxValueBytes) {
    throw new ResultInvalidError(
      `What the work under the key "${key}" gave can't be stored: it has more than ${maxValueBytes} bytes as JSON.`,
    );
  }

  return text;
}

export function storedValue<T>(text: string | null): FromJson<T> {
  return (text === null ? undefined : JSON.parse(text)) as FromJson<T>;
}

function ttlMs(option: string, ttl: Duration): number {
  const ms = durationMs(ttl, option);
  if (ms < 1) {
    throw new InvalidOptionError(option, 'be at least 1 ms', ttl);
  }

  return ms;
}
