import { v7 as uuidV7 } from 'uuid';
import { durationMs, type Duration } from './duration.ts';
import { InvalidSubmissionError } from './errors.ts';
import type { JobKey } from './job-key.ts';
import { checkKnown } from './known-options.ts';
import { resolveRetryPolicy, type ResolvedRetryPolicy, type RetryPolicy } from './retry-policy.ts';
import { checkedScope } from './scope.ts';
import {
  asSubmission,
  checkedId,
  checkedMaxAttempts,
  checkedMetadata,
  checkedName,
  checkedOnInterrupt,
  checkedPriority,
  checkedTimeout,
} from './submission-checks.ts';
import { byteLength, isStorable } from './text.ts';
import { instantOf, type Micros } from './time.ts';
import { traceContextOf, type TraceContext } from './trace-context.ts';

/** May an attempt whose process died, or that a stop cut short, be run again unasked? */
export type OnInterrupt = 'hold' | 'requeue';

/** What a submission may say, beside its payload. What it leaves out comes from the definition. */
export interface SubmissionOptions {
  /** Isolation of identity, for example a tenant; compared byte for byte, never trimmed or folded. @default '' */
  readonly scope?: string;
  /** @default the definition's, or 'default' */
  readonly queue?: string;
  /** Higher first; a 32-bit integer. @default the definition's, or 0 */
  readonly priority?: number;
  /** Starts allowed, the first included. @default the definition's, or 10 */
  readonly maxAttempts?: number;
  /** @default the definition's; `false` never retries */
  readonly retry?: RetryPolicy | false;
  /** How long one attempt may run before its signal is aborted. @default the definition's, or no limit */
  readonly timeout?: Duration;
  /** @default the definition's, or 'hold' */
  readonly onInterrupt?: OnInterrupt;
  /**
   * At most one active (queued, running or awaiting) job of the scope has this key: a second submission returns the job that
   * holds it. The key is free again when the job has ended. Up to 255 characters.
   */
  readonly uniqueKey?: string;
  /** Labels for people and for the handler; never part of the identity. */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * Its parents, at most 100 jobs of the same scope, in the same call or stored already: the job waits until all of them have
   * succeeded, and is cancelled when one of them fails for good, is cancelled, or is gone. Never part of the identity.
   */
  readonly after?: ReadonlyArray<JobKey>;
  /**
   * Where it comes from, as W3C Trace Context says it; handed to the handler as `job.trace`. Never part of the identity. What is no trace
   * context is dropped, and costs no job. @default what the `trace` option of `Jobs` answers when it is staged or submitted
   */
  readonly trace?: TraceContext | null;
}

/** A relative delay has no place in a request that may be repeated: with an `id`, give the instant. */
export type Identity =
  | {
      /** 1 to 128 printable ASCII characters without spaces, unique in the scope. @default a UUIDv7 */
      readonly id?: string;
      /** The job starts no earlier. Part of the identity. @default null: at once */
      readonly notBefore?: Date | null;
      readonly delay?: never;
    }
  | {
      readonly id?: never;
      readonly notBefore?: null;
      /** The job starts no earlier than so long from now. @default 0 */
      readonly delay?: Duration;
    };

/**
 * A request for one job, frozen: the payload's text was written when it was made. Submitting the same object again, in
 * this process or after a lost answer, is the same request.
 */
export interface Submission<Name extends string = string> extends JobKey {
  readonly name: Name;
  readonly version: string;
  /** The JSON text, exactly as it is stored and compared. */
  readonly payload: string;
  readonly queue: string;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly notBefore: Date | null;
  readonly onInterrupt: OnInterrupt;
  /** Only when the submission says otherwise than its definition. */
  readonly timeoutMs: number | null;
  /** Only when the submission says otherwise than its definition. */
  readonly retryPolicy: ResolvedRetryPolicy | false | null;
  readonly lifetimeMs: number | null;
  readonly uniqueKey: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** The ids of its parents, each once; they are of the same scope. */
  readonly after: readonly string[];
  readonly trace: TraceContext | null;
}

/** What a definition gives every submission of its own. */
export interface SubmissionDefaults<Name extends string = string> {
  readonly name: Name;
  readonly version: string;
  readonly queue: string;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly onInterrupt: OnInterrupt;
  readonly retryPolicy: ResolvedRetryPolicy | false;
}

const brand = Symbol.for('mikro-orm-jobs.submission');
const madeId = Symbol.for('mikro-orm-jobs.submission.madeId');
const delayMs = Symbol.for('mikro-orm-jobs.submission.delayMs');
const notBeforeMs = Symbol.for('mikro-orm-jobs.submission.notBeforeMs');
/**
 * Each reader gets a Date of its own: freezing one doesn't keep it from being set. One getter for all: with one each, every submission has
 * a shape of its own, and every reader looks each property up.
 */
const notBeforeOnRead = {
  enumerable: true,
  get(this: { readonly [notBeforeMs]: number | null }): Date | null {
    return this[notBeforeMs] === null ? null : new Date(this[notBeforeMs]);
  },
};
const maxPayloadBytes = 1_000_000;
const maxParents = 100;
const knownOptions: ReadonlyArray<keyof SubmissionOptions | keyof Identity> = [
  'id', 'scope', 'queue', 'priority', 'maxAttempts', 'retry', 'timeout', 'onInterrupt', 'uniqueKey', 'metadata', 'after', 'trace', 'notBefore', 'delay',
]; // prettier-ignore

/** @throws InvalidSubmissionError naming the field and the rule, before anything is sent */
export function createSubmission<Name extends string>(
  defaults: SubmissionDefaults<Name>,
  payload: string,
  options: SubmissionOptions & Identity,
  now: Micros,
): Submission<Name> {
  checkOptions(options);
  // Defaults stand in for what is left out, never for null: a tenant that is null must not share the scope ''.
  const { scope = '', queue = defaults.queue, priority = defaults.priority } = options;
  const { maxAttempts = defaults.maxAttempts, onInterrupt = defaults.onInterrupt } = options;
  const { id, retry, timeout, uniqueKey, metadata, after = [], trace } = options;
  const retryPolicy = retry === undefined ? null : asSubmission('retry', () => resolveRetryPolicy(retry));
  const effectiveRetry = retryPolicy ?? defaults.retryPolicy;
  const notBefore = notBeforeOf(options, now);

  const key = { scope: checkedScope(scope), id: id === undefined ? uuidV7() : checkedId(id) };
  const submission: Omit<Submission<Name>, 'notBefore'> = {
    scope: key.scope,
    id: key.id,
    name: defaults.name,
    version: defaults.version,
    payload: checkedPayload(payload),
    queue: checkedName('queue', queue),
    priority: checkedPriority(priority),
    maxAttempts: checkedMaxAttempts(maxAttempts),
    onInterrupt: checkedOnInterrupt(onInterrupt),
    timeoutMs: timeout === undefined ? null : checkedTimeout(timeout),
    retryPolicy,
    lifetimeMs: effectiveRetry === false ? null : effectiveRetry.lifetimeMs,
    uniqueKey: uniqueKey === undefined ? null : checkedName('uniqueKey', uniqueKey),
    metadata: metadata === undefined ? null : checkedMetadata(metadata),
    after: checkedParents(key, after),
    trace: traceContextOf(trace),
  };

  Object.defineProperty(submission, 'notBefore', notBeforeOnRead);
  Object.defineProperty(submission, notBeforeMs, { value: notBefore });
  Object.defineProperty(submission, brand, { value: true });
  if (options.delay !== undefined) {
    Object.defineProperty(submission, delayMs, { value: delayMsOf(options) });
  }
  Object.defineProperty(submission, madeId, { value: id === undefined });

  return Object.freeze(submission) as Submission<Name>;
}

/** The same request with its relative delay counted from this instant; as it is when it has none. */
export function delayedFrom(submission: Submission, now: Micros): Submission {
  const delay = (submission as unknown as Record<symbol, number | undefined>)[delayMs];
  if (delay === undefined) {
    return submission;
  }

  const instant = { value: checkedInstant(new Date(now / 1000 + delay)) };
  return Object.freeze(
    Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(submission), [notBeforeMs]: instant }),
  ) as Submission;
}

/** Whether its id was made with it, so that no other submission has it. */
export function hasIdOfItsOwn(submission: Submission): boolean {
  return (submission as unknown as Record<symbol, unknown>)[madeId] === true;
}

/** The same request, come from there. */
export function withTrace(submission: Submission, trace: TraceContext): Submission {
  const properties = Object.getOwnPropertyDescriptors(submission);
  return Object.freeze(
    Object.create(Object.prototype, { ...properties, trace: { value: trace, enumerable: true } }) as Submission,
  );
}

/** @throws InvalidSubmissionError for anything that `definition.create()` didn't make */
export function checkedSubmission(value: unknown): Submission {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, brand)) {
    throw new InvalidSubmissionError('submission', 'be made by `create` or `createFromJson` of a job definition');
  }

  return value as unknown as Submission;
}

function checkOptions(options: SubmissionOptions & Identity): void {
  asSubmission('options', () => checkKnown(options, knownOptions));
  if (options.id !== undefined && options.delay !== undefined) {
    throw new InvalidSubmissionError(
      'delay',
      'stand without an `id`: a request that may be repeated gives the instant, `notBefore`',
    );
  }
  if (options.notBefore != null && options.delay !== undefined) {
    throw new InvalidSubmissionError('delay', 'stand without `notBefore`');
  }
}

function checkedPayload(payload: string): string {
  if (byteLength(payload) > maxPayloadBytes) {
    throw new InvalidSubmissionError('payload', 'have at most 1,000,000 bytes as UTF-8');
  }
  if (!isStorable(payload)) {
    throw new InvalidSubmissionError('payload', 'be well-formed text without NUL');
  }

  return payload;
}

/** In ms; null: at once. */
function notBeforeOf(options: SubmissionOptions & Identity, now: Micros): number | null {
  const { notBefore } = options;
  const delay = delayMsOf(options);
  if (delay !== null) {
    return checkedInstant(new Date(now / 1000 + delay));
  }

  return notBefore === undefined || notBefore === null ? null : checkedInstant(notBefore);
}

function delayMsOf({ delay }: Identity): number | null {
  return delay === undefined ? null : asSubmission('delay', () => durationMs(delay, 'delay'));
}

function checkedInstant(instant: Date): number {
  if (instantOf(instant) === null) {
    throw new InvalidSubmissionError('notBefore', 'be a valid Date from 1970 to 2255');
  }

  return instant.getTime();
}

function checkedParents(key: JobKey, parents: ReadonlyArray<JobKey>): readonly string[] {
  if (!Array.isArray(parents) || parents.length > maxParents) {
    throw new InvalidSubmissionError('after', `be a list of at most ${maxParents} jobs`);
  }

  const ids = (parents as ReadonlyArray<JobKey | null | undefined>).map(parent => {
    if (typeof parent?.scope !== 'string') {
      throw new InvalidSubmissionError('after', 'name each job as a submission or as { scope, id }');
    }
    if (parent.scope !== key.scope) {
      throw new InvalidSubmissionError('after', 'name jobs of the same scope only');
    }
    if (parent.id === key.id) {
      throw new InvalidSubmissionError('after', 'not name the job itself');
    }

    return checkedId(parent.id);
  });

  return Object.freeze([...new Set(ids)]);
}
