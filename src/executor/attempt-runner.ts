import type { Attempt, Settlement } from '../core/attempt.ts';
import type { AnyDefinition } from '../core/definition.ts';
import type { EventStream } from '../core/event-stream.ts';
import type { RegisteredHandler } from '../core/handler.ts';
import { throughMiddleware, type JobMiddleware } from '../core/middleware.ts';
import type { Outcome } from '../core/outcome.ts';
import { settlementFor } from '../core/settlement.ts';
import { attemptFields } from './attempt-fields.ts';
import { Completion } from './completion.ts';
import type { HandlerList } from './handler-list.ts';
import { Once, type OnceParts } from './once.ts';
import { RunningAttempt } from './running-attempt.ts';
import type { RunningAttempts } from './running-attempts.ts';
import { runningJob, seenJob } from './running-job.ts';
import type { Ended } from './settled-event.ts';
import { verdictFor, type Ending } from './verdict.ts';

export interface AttemptRunnerParts<Em> extends OnceParts<Em> {
  readonly handlers: HandlerList<Em>;
  readonly middleware: ReadonlyArray<JobMiddleware<Em>>;
  readonly running: RunningAttempts;
  /** Takes what is to be written, and what it was decided by. */
  readonly settle: (ended: Ended, outcome: Outcome) => void;
  /** Takes what a stop interrupted. */
  readonly interrupt: (run: RunningAttempt) => void;
  readonly random: () => number;
  readonly events: EventStream;
}

/** Runs one attempt: the payload is read, the handler called, what happened judged. */
export class AttemptRunner<Em> {
  readonly #parts: AttemptRunnerParts<Em>;

  constructor(parts: AttemptRunnerParts<Em>) {
    this.#parts = parts;
  }

  /** Resolves when the handler has ended and its outcome was handed on. */
  async run(attempt: Attempt): Promise<void> {
    const handler = this.#parts.handlers.of(attempt);
    const run = new RunningAttempt(attempt);
    const decide = (outcome: Outcome) => this.#settlementFor(run, handler.definition, outcome);
    const completion = new Completion(run, this.#parts.environment, decide, this.#parts);

    this.#parts.running.add(run);
    try {
      const ending = await this.#execute(run, handler, completion);
      this.#conclude(run, completion, ending, decide);
    } finally {
      this.#parts.running.remove(run);
    }
  }

  async #execute(run: RunningAttempt, handler: RegisteredHandler<Em>, completion: Completion<Em>): Promise<Ending> {
    const { attempt } = run;
    const timeoutMs = attempt.timeoutMs ?? handler.definition.timeoutMs;
    let payload: never;
    try {
      payload = handler.definition.parse(attempt.payload) as never;
    } catch (error) {
      return { kind: 'payload_invalid', error };
    }

    if (timeoutMs !== null) {
      run.limitTime(timeoutMs);
    }
    try {
      const value = await this.#parts.environment.run(async em => {
        try {
          const seen = seenJob(run, payload, em);
          const job = runningJob(seen, run, completion, new Once(run, em, this.#parts), this.#parts.logger);
          const value = await throughMiddleware(this.#parts.middleware, seen, () => handler.run(job));
          this.#warnOfUnflushed(run, em);
          return value;
        } finally {
          // Its EntityManager is good for as long as its transaction is open, whether or not the handler waited.
          await completion.handlerEnded();
        }
      });
      return { kind: 'returned', value };
    } catch (error) {
      return { kind: 'threw', error };
    }
  }

  #conclude(
    run: RunningAttempt,
    completion: Completion<Em>,
    ending: Ending,
    decide: (outcome: Outcome) => Settlement,
  ): void {
    if (completion.isCommitted) {
      this.#logLate(run, completion, ending);
      return;
    }

    const verdict = verdictFor(run, completion.endingWith(ending));
    run.end();
    switch (verdict.kind) {
      case 'settle':
        return this.#parts.settle(
          { attempt: run.attempt, settlement: decide(verdict.outcome), endedAt: this.#parts.clock.now() },
          verdict.outcome,
        );
      case 'recover':
        return this.#parts.interrupt(run);
      case 'nothing':
        return this.#logLate(run, completion, ending);
    }
  }

  #settlementFor(run: RunningAttempt, definition: AnyDefinition, outcome: Outcome): Settlement {
    return settlementFor(run.attempt, outcome, {
      policy: run.attempt.retryPolicy ?? definition.retryPolicy,
      progress: run.progress.current,
      now: this.#parts.clock.now(),
      random: this.#parts.random(),
    });
  }

  #warnOfUnflushed({ attempt }: RunningAttempt, em: Em): void {
    const { environment, logger } = this.#parts;

    if (environment.hasUnflushed?.(em)) {
      logger.warn(
        { event: 'unflushed_work', ...attemptFields(attempt) },
        'a handler ended without a flush of what it persisted or removed: nothing of that was written',
      );
    }
  }

  #logLate(run: RunningAttempt, completion: Completion<Em>, ending: Ending): void {
    const fields = attemptFields(run.attempt);

    if (!completion.isCommitted) {
      this.#parts.logger.warn(
        { event: 'late_result', ...fields, ending: ending.kind },
        'a handler ended after its attempt had lost the job; its result was ignored',
      );
    } else if (ending.kind === 'threw') {
      this.#parts.logger.warn(
        { event: 'late_error', ...fields, error: ending.error },
        'a handler threw after `transactional()` had settled its attempt; the job stays as it is',
      );
    }
  }
}
