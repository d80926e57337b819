import { systemClock } from './clock.ts';
import type { Duration } from './duration.ts';
import { InvalidOptionError } from './errors.ts';
import { checkKnown } from './known-options.ts';
import { asOption } from './option-checks.ts';
import { checkAgainstSchema, checkedJson, parsePayload, payloadText } from './payload.ts';
import { resolveRetryPolicy, type ResolvedRetryPolicy, type RetryPolicy } from './retry-policy.ts';
import type { SchemaInput, SchemaOutput, StandardSchema } from './standard-schema.ts';
import {
  createSubmission,
  type Identity,
  type OnInterrupt,
  type Submission,
  type SubmissionDefaults,
  type SubmissionOptions,
} from './submission.ts';
import {
  checkedMaxAttempts,
  checkedName,
  checkedOnInterrupt,
  checkedPriority,
  checkedTimeout,
} from './submission-checks.ts';

declare const types: unique symbol;

/** A kind of job: its name and version, the type of its payload, and what its submissions have unless they say otherwise. */
export interface JobDefinition<Input, Output, Name extends string = string> {
  /** Stored with every job; chosen once, and independent of the handler's function name. */
  readonly name: Name;
  /** Two versions are two definitions with two handlers. */
  readonly version: string;
  /**
   * A submission. The payload is serialised here, once; changing the object afterwards changes nothing.
   *
   * @throws InvalidSubmissionError when the payload or an option can't be stored, or doesn't fit the schema
   */
  create(payload: Input, options?: SubmissionOptions & Identity): Submission<Name>;
  /** The same from JSON text, kept byte for byte: numbers beyond 2^53 survive. */
  createFromJson(json: string, options?: SubmissionOptions & Identity): Submission<Name>;
  /** What a handler is given for a stored payload. @throws PayloadInvalidError when it doesn't fit the schema */
  parse(json: string): Output;
  /** How long one attempt may run, in ms; null: no limit. */
  readonly timeoutMs: number | null;
  /** `false`: never retried. */
  readonly retryPolicy: ResolvedRetryPolicy | false;
  /** Types only. */
  readonly [types]?: { readonly input: Input; readonly output: Output };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the only type that every definition is assignable to
export type AnyDefinition = JobDefinition<any, any>;
/** What `create` takes. */
export type PayloadInput<D> = D extends { readonly [types]?: { readonly input: infer I } } ? I : never;
/** What a handler gets. */
export type Payload<D> = D extends { readonly [types]?: { readonly output: infer O } } ? O : never;

export interface DefinitionOptions<Name extends string> {
  /** 1 to 255 characters, for example `'invoice.send'`. Stored, so it outlives every rename in your code. */
  readonly name: Name;
  /** Stored, and part of a job's identity. @default '1' */
  readonly version?: string;
  /** @default 'default' */
  readonly queue?: string;
  /** Higher first. @default 0 */
  readonly priority?: number;
  /** Starts allowed, the first included. @default 10 */
  readonly maxAttempts?: number;
  /** @default exponential: 2 s, factor 2, at most 10 min, jitter 0.2; `false` never retries */
  readonly retry?: RetryPolicy | false;
  /** How long one attempt may run before its signal is aborted and it fails with reason `timeout`. @default no limit */
  readonly timeout?: Duration;
  /**
   * What becomes of an attempt whose process died, or that a stop cut short: `'hold'` leaves the job `interrupted` for a person
   * to look at; `'requeue'` lets it run again unasked, for handlers that may safely be repeated. @default 'hold'
   */
  readonly onInterrupt?: OnInterrupt;
}

/** With a schema: payload types come from it, and it validates what is submitted and what a handler gets. */
export function defineJob<const Name extends string, S extends StandardSchema>(
  options: DefinitionOptions<Name> & { readonly schema: S },
): JobDefinition<SchemaInput<S>, SchemaOutput<S>, Name>;
/** Without a schema the type is a promise of yours; name it: `defineJob<{ id: string }>()({ name: 'mail.send' })`. */
export function defineJob<P>(): <const Name extends string>(
  options: DefinitionOptions<Name>,
) => JobDefinition<P, P, Name>;
export function defineJob(options?: DefinitionOptions<string> & { readonly schema?: unknown }): unknown {
  if (options === undefined) {
    return (later: DefinitionOptions<string>) => definitionOf(checkKnown(later, knownOptions), undefined);
  }

  const { schema } = checkKnown(options, [...knownOptions, 'schema']);
  return definitionOf(options, checkedSchema(schema));
}

/** @throws InvalidOptionError for what `defineJob` didn't make */
export function checkDefinition(definition: AnyDefinition): void {
  // A schema has a `parse` as well.
  if (typeof definition?.parse !== 'function' || typeof definition.createFromJson !== 'function') {
    throw new InvalidOptionError('definition', 'be made by `defineJob`', definition);
  }
}

const knownOptions: ReadonlyArray<keyof DefinitionOptions<string>> = [
  'name', 'version', 'queue', 'priority', 'maxAttempts', 'retry', 'timeout', 'onInterrupt',
]; // prettier-ignore

function definitionOf(
  options: DefinitionOptions<string>,
  schema: StandardSchema | undefined,
): JobDefinition<unknown, unknown> {
  const defaults = defaultsOf(options);
  const make = (text: string, given: SubmissionOptions & Identity = {}): Submission => {
    const submission = createSubmission(defaults, text, given, systemClock.now());
    checkAgainstSchema(text, schema);
    return submission;
  };

  return Object.freeze({
    name: defaults.name,
    version: defaults.version,
    timeoutMs: options.timeout === undefined ? null : asOption('timeout', options.timeout, checkedTimeout),
    retryPolicy: defaults.retryPolicy,
    create: (payload: unknown, given?: SubmissionOptions & Identity) => make(payloadText(payload), given),
    createFromJson: (json: string, given?: SubmissionOptions & Identity) => make(checkedJson(json), given),
    parse: (json: string) => parsePayload(json, schema),
  });
}

function defaultsOf(options: DefinitionOptions<string>): SubmissionDefaults {
  const { name, version = '1', queue = 'default', priority = 0, maxAttempts = 10, onInterrupt = 'hold' } = options;

  return {
    name: asOption('name', name, value => checkedName('name', value)),
    version: asOption('version', version, value => checkedName('version', value, 64)),
    queue: asOption('queue', queue, value => checkedName('queue', value)),
    priority: asOption('priority', priority, checkedPriority),
    maxAttempts: asOption('maxAttempts', maxAttempts, checkedMaxAttempts),
    onInterrupt: asOption('onInterrupt', onInterrupt, checkedOnInterrupt),
    retryPolicy: resolveRetryPolicy(options.retry),
  };
}

function checkedSchema(schema: unknown): StandardSchema {
  const standard = (schema as StandardSchema | undefined)?.['~standard'];
  if (standard?.version !== 1 || typeof standard.validate !== 'function') {
    throw new InvalidOptionError(
      'schema',
      'implement Standard Schema (zod, valibot, arktype…); without one write `defineJob<T>()({ … })`',
      schema,
    );
  }

  return schema as StandardSchema;
}
