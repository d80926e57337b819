import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { InvalidOptionError } from '../core/errors.ts';
import { EventStream } from '../core/event-stream.ts';
import type { RegisteredHandler } from '../core/handler.ts';
import { checkKnown } from '../core/known-options.ts';
import type { ClaimAnswer, JobStore } from '../core/store.ts';
import type { TestBench, TestPlace } from '../core/test-bench.ts';
import type { Micros } from '../core/time.ts';
import { fireDue } from '../executor/fire-due.ts';
import { HandlerList } from '../executor/handler-list.ts';
import { resolveAwaiting } from '../executor/resolve-awaiting.ts';
import { DrainLimitError } from './drain-limit-error.ts';
import { drainResult, type DrainError, type DrainResult, type Ending } from './drain-result.ts';
import { runAttempt } from './run-attempt.ts';

/** What a drain runs, and where. */
export interface DrainOptions<Em> {
  /** As an executor takes them; jobs of other definitions stay queued. */
  readonly handlers: ReadonlyArray<RegisteredHandler<never>>;
  /**
   * Runs everything inside of the transaction that is open on it, so that all of it is rolled back with that: the handlers' writes, their
   * follow-up jobs, the states of the jobs. Left out: beside everything, as an executor does.
   */
  readonly em?: Em;
  /** How many attempts it runs at most before it gives up. @default 1000 */
  readonly limit?: number;
  /** Throws what a handler threw, once that is settled, and runs nothing after it; a snooze is no error. @default false */
  readonly throwErrors?: boolean;
}

/** One after the other, what is due first: each claim sees what the attempts before it have staged. */
export class Drain<Em> {
  readonly #bench: TestBench<Em>;
  readonly #handlers: HandlerList<unknown>;
  readonly #em: Em | undefined;
  readonly #limit: number;
  readonly #throwErrors: boolean;
  readonly #executorId = randomUUID();
  readonly #endings: Ending[] = [];
  readonly #errors: DrainError[] = [];

  constructor(bench: TestBench<Em>, options: DrainOptions<Em>) {
    checkKnown(options, ['handlers', 'em', 'limit', 'throwErrors']);
    this.#bench = bench;
    this.#handlers = new HandlerList<unknown>(options.handlers);
    this.#em = options.em;
    this.#limit = checkedLimit(options.limit ?? 1000);
    this.#throwErrors = options.throwErrors ?? false;
  }

  async run(): Promise<DrainResult> {
    const place = await this.#bench.place(this.#em);
    const store = place.store();
    await this.#register(store);
    await this.#maintain(place, store);

    const nextDueAt = await this.#runDue(place);
    await store.retire(this.#executorId);
    this.#check(nextDueAt);

    return drainResult(this.#endings, this.#errors, nextDueAt);
  }

  /** Without a lease: time may be moved by years while a handler runs. */
  async #register(store: JobStore): Promise<void> {
    await store.register({
      id: this.#executorId,
      name: 'drain() of a test',
      host: hostname(),
      leaseUntil: null,
      metadata: { definitions: this.#handlers.definitions, queues: null, concurrency: 1 },
    });
  }

  /** What an executor does beside its jobs: fires recurring ones, looks after those that wait for parents. */
  async #maintain({ recurring }: TestPlace, store: JobStore): Promise<void> {
    const { clock, logger } = this.#bench;
    const events = new EventStream(logger);
    let nextFireAt;
    do {
      const fired = await fireDue({ store: recurring, clock, events });
      if (fired.errors.length > 0) {
        throw fired.errors[0];
      }
      nextFireAt = fired.nextFireAt;
    } while (nextFireAt !== null && nextFireAt <= clock.now());

    await resolveAwaiting(store);
  }

  /** @returns when the next job is due that was not run */
  async #runDue(place: TestPlace): Promise<Micros | null> {
    for (;;) {
      const { attempts, nextDueAt } = await this.#claim(place.store());
      const [attempt] = attempts;
      if (attempt === undefined) {
        return nextDueAt;
      }

      const { ending, error } = await runAttempt(attempt, this.#handlers, this.#bench, place);
      this.#endings.push(ending);
      if (error !== null) {
        this.#errors.push(error);
        if (this.#throwErrors) {
          return null;
        }
      }
    }
  }

  #claim(store: JobStore): Promise<ClaimAnswer> {
    return store.claim({
      executorId: this.#executorId,
      definitions: this.#handlers.definitions,
      queues: null,
      limit: this.#endings.length < this.#limit ? 1 : 0,
    });
  }

  #check(nextDueAt: Micros | null): void {
    const [failure] = this.#errors;
    if (this.#throwErrors && failure !== undefined) {
      throw failure.error;
    }

    const isDue = nextDueAt !== null && nextDueAt <= this.#bench.clock.now();
    if (isDue && this.#endings.length >= this.#limit) {
      throw new DrainLimitError(this.#limit);
    }
  }
}

function checkedLimit(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new InvalidOptionError('limit', 'be an integer of at least 1', limit);
  }

  return limit;
}
