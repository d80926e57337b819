import { AttemptMissingError, AttemptSettledError } from '../core/errors.ts';
import type { Settlement } from '../core/attempt.ts';
import type { EventStream } from '../core/event-stream.ts';
import type { ExecutorEnvironment } from '../core/executor-environment.ts';
import { ResultInvalidError } from '../core/handler-errors.ts';
import type { Outcome } from '../core/outcome.ts';
import type { JobStore } from '../core/store.ts';
import type { Clock } from '../core/clock.ts';
import { eventAttempt } from './attempt-fields.ts';
import type { RunningAttempt } from './running-attempt.ts';
import { settledEvent } from './settled-event.ts';
import type { Ending } from './verdict.ts';

/** `job.transactional`: what the handler writes and the settlement of its attempt, in one transaction, once per attempt. */
export class Completion<Em> {
  readonly #run: RunningAttempt;
  readonly #environment: ExecutorEnvironment<Em>;
  readonly #decide: (outcome: Outcome) => Settlement;
  readonly #events: EventStream;
  readonly #clock: Clock;
  #committing: Promise<unknown> | null = null;
  #isCommitted = false;
  #hasHandlerEnded = false;
  #failure: Ending | null = null;
  #settlement: Settlement | null = null;

  constructor(
    run: RunningAttempt,
    environment: ExecutorEnvironment<Em>,
    decide: (outcome: Outcome) => Settlement,
    { events, clock }: { readonly events: EventStream; readonly clock: Clock },
  ) {
    this.#run = run;
    this.#environment = environment;
    this.#decide = decide;
    this.#events = events;
    this.#clock = clock;
  }

  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  /** The handler has ended: begins nothing any more, and resolves when no transaction of it is open, be it that nobody waits for it. */
  async handlerEnded(): Promise<void> {
    this.#hasHandlerEnded = true;
    await this.#committing?.catch(() => {});
  }

  /** @throws what `RunningJob.transactional` says, as a rejection */
  transactional<T extends string | void>(em: Em, work: (em: Em) => Promise<T>): Promise<T> {
    const result = this.#begin(em, work);
    // A handler that doesn't await it must not end the process with an unhandled rejection; its attempt fails visibly.
    result.catch(() => {});

    return result;
  }

  /** The handler's ending, unless the transaction says otherwise: its failure counts also where the handler swallowed it. */
  endingWith(ending: Ending): Ending {
    const isSwallowed = ending.kind === 'returned' || this.#failure?.kind === 'returned';

    return this.#failure !== null && isSwallowed ? this.#failure : ending;
  }

  async #begin<T extends string | void>(em: Em, work: (em: Em) => Promise<T>): Promise<T> {
    const { scope, id, attempt } = this.#run.attempt;
    if (this.#run.wasAborted('lost')) {
      throw this.#run.lose();
    }
    if (this.#committing !== null || this.#hasHandlerEnded || this.#run.isOver) {
      throw new AttemptSettledError({ scope, id }, attempt, '`transactional()`', this.#whyTooLate(), {
        cause: this.#failure?.kind === 'threw' ? this.#failure.error : undefined,
      });
    }

    this.#committing = this.#commit(em, work);
    return (await this.#committing) as T;
  }

  async #commit<T extends string | void>(em: Em, work: (em: Em) => Promise<T>): Promise<T> {
    const cut = this.#run.beginCompleting();

    try {
      const settle = (store: Pick<JobStore, 'settle'>, value: T) => this.#settle(store, value, cut);
      const result = await this.#environment.transactional(em, work, settle, cut);
      this.#isCommitted = true;
      this.#run.end();
      this.#tellSettled();

      return result;
    } catch (thrown) {
      // A statement that was cut, and whatever came of that, only says that it was.
      const error: unknown = cut.aborted ? cut.reason : thrown;
      this.#failure ??= { kind: 'threw', error };
      this.#run.failCompleting();
      throw error;
    }
  }

  /** Throws for everything but success, so that the transaction is rolled back. */
  async #settle(store: Pick<JobStore, 'settle'>, value: unknown, cut: AbortSignal): Promise<void> {
    cut.throwIfAborted();
    this.#run.beginSettling();
    const settlement = this.#decide({ kind: 'returned', value });
    if (settlement.outcome !== 'succeeded') {
      this.#failure = { kind: 'returned', value };
      throw new ResultInvalidError('What `work` returned can be no result reference; its transaction was rolled back.');
    }

    this.#settlement = settlement;
    const [settled] = await store.settle([settlement]);
    if (settled?.answer === 'settled') {
      if (settled.state !== 'succeeded') {
        throw this.#run.abort('cancelled');
      }
      return;
    }

    if (settled?.answer === 'attempt_missing') {
      const { scope, id, attempt } = this.#run.attempt;
      this.#events.emit({ event: 'attempt_missing', ...eventAttempt(this.#run.attempt) });
      throw this.#run.lose(new AttemptMissingError({ scope, id }, attempt));
    }

    this.#events.emit({ event: 'attempt_lost', ...eventAttempt(this.#run.attempt) });
    throw this.#run.lose();
  }

  #whyTooLate(): string {
    if (this.#isCommitted) {
      return 'was settled';
    }
    if (this.#failure !== null) {
      return 'had failed in its first call';
    }

    return this.#committing === null ? 'had ended with its handler' : 'had begun its first call';
  }

  #tellSettled(): void {
    if (this.#events.isHeard) {
      const ended = { attempt: this.#run.attempt, settlement: this.#settlement!, endedAt: this.#clock.now() };
      this.#events.emit(settledEvent(ended, 'succeeded'));
    }
  }
}
