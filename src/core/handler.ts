import { checkDefinition, type AnyDefinition, type Payload } from './definition.ts';
import type { JobKey } from './job-key.ts';
import { InvalidOptionError } from './errors.ts';
import type { FromJson, OnceOptions } from './once.ts';
import type { TraceContext } from './trace-context.ts';

/** What a handler is given. `Em` is the host's EntityManager; core doesn't know it. */
export interface RunningJob<P, Em> extends JobKey {
  /** What the definition's schema made of the stored text; without a schema, the text parsed. */
  readonly payload: P;
  /** The stored text itself, byte for byte. */
  readonly payloadText: string;
  readonly name: string;
  readonly version: string;
  readonly queue: string;
  /** Which start this is; the first is 1. */
  readonly attempt: number;
  /** Starts allowed now. */
  readonly maxAttempts: number;
  /** When it was due. */
  readonly scheduledFor: Date;
  readonly metadata: Readonly<Record<string, string>>;
  /** Where it comes from, as its submission said; null: it said nothing, or a recurring job made it. */
  readonly trace: TraceContext | null;
  /**
   * Fires when the handler should end: a cancel was requested, its time is up, the executor stops, or the attempt no longer
   * owns the job. `signal.reason` is an `AttemptAbortedError` whose `why` says which.
   */
  readonly signal: AbortSignal;
  /** An EntityManager for this attempt alone; it is the request context of the handler too, so injected repositories use it. */
  readonly em: Em;
  /** Reports progress, 0 to 100 (clamped), and returns at once; the value reaches the store with the next tick. */
  progress(percent: number, message?: string): void;
  /**
   * Runs `work` and settles this attempt as succeeded in one READ COMMITTED transaction: what `work` writes through its
   * EntityManager takes effect once, or not at all. What it returns is the result reference. Once per attempt, the last
   * thing that a handler does.
   *
   * A cancel, a timeout or the loss of the job while `work` is at it ends it: on PostgreSQL with MikroORM 7 the statement that it waits for
   * is cancelled, elsewhere `work` is waited for. The signal of a stop alone doesn't: `work` may end within `abortGrace`.
   *
   * @throws the signal's reason when that happened, or the job was cancelled or lost before; everything that `work` wrote is rolled back
   * @throws AttemptSettledError when it was called before, whatever became of that call, or after the handler has ended
   */
  transactional<T extends string | void>(work: (em: Em) => Promise<T>): Promise<T>;
  /**
   * For effects outside of the database: runs `work` unless it was done under this key, and gives what it gave, as JSON makes it,
   * also the first time. All jobs of the scope share the key. One attempt works under it at a time; one that has ended, be it that
   * its process died, is replaced. When `work` throws, the key is free again and the error goes on.
   *
   * A process that dies after the effect and before the result is stored does it again: give the key to the other side too.
   *
   * @throws KeyInProgressError when another attempt is at work; let it go on, and the job comes back, without a failure
   * @throws InvalidOptionError, AmbientTransactionError before any SQL: a key or a ttl that can't be; inside of a transaction
   * @throws ResultInvalidError when what `work` gave is no JSON, or more than 1,000,000 bytes of it; the job fails at once
   * @throws the signal's reason when the attempt has lost the job; AttemptSettledError after `transactional`
   */
  once<T>(key: string, options: OnceOptions, work: () => Promise<T>): Promise<FromJson<T>>;
}

export type HandlerResult = string | void;

/** A handler of one definition. A returned string becomes the result reference. */
export type JobHandler<D extends AnyDefinition, Em> = (
  job: RunningJob<Payload<D>, Em>,
) => HandlerResult | Promise<HandlerResult>;

/** A definition with its handler. The payload's type is erased, so that a list of handlers is homogeneous. */
export interface RegisteredHandler<Em> {
  readonly definition: AnyDefinition;
  /** A method on purpose: its EntityManager is not compared, so a list may hold handlers for several. */
  run(job: RunningJob<never, Em>): HandlerResult | Promise<HandlerResult>;
}

export function registerHandler<D extends AnyDefinition, Em>(
  definition: D,
  run: JobHandler<D, Em>,
): RegisteredHandler<Em> {
  checkDefinition(definition);
  if (typeof run !== 'function') {
    throw new InvalidOptionError(`handler of ${definition.name}`, 'be a function', run);
  }

  return Object.freeze({ definition, run: run as RegisteredHandler<Em>['run'] });
}
