import { AttemptAbortedError, type AbortWhy } from '../core/abort-reason.ts';
import type { Attempt, AttemptRef } from '../core/attempt.ts';
import { StaleAttemptError, type JobsError } from '../core/errors.ts';
import { AttemptProgress } from './attempt-progress.ts';

/** An attempt from its start until its outcome is decided: its signal, its time limit, its progress. */
export class RunningAttempt {
  readonly attempt: Attempt;
  readonly progress = new AttemptProgress();
  readonly #controller = new AbortController();
  readonly #aborts = new Map<AbortWhy, AttemptAbortedError>();
  #timeout: NodeJS.Timeout | undefined;
  #isOver = false;
  #isCompleting = false;
  #isSettling = false;
  #cut: AbortController | null = null;

  constructor(attempt: Attempt) {
    this.attempt = attempt;
  }

  get ref(): AttemptRef {
    const { scope, id, attempt, token } = this.attempt;
    return { scope, id, attempt, token };
  }

  get token(): string {
    return this.attempt.token;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether its outcome is decided or taken from it: nothing that the handler still does changes anything. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether its `job.transactional` is at work. */
  get isCompleting(): boolean {
    return this.#isCompleting;
  }

  /** Whether `job.transactional` is about to settle it, so that only that call can tell "ended" from "lost". */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  wasAborted(why: AbortWhy): boolean {
    return this.#aborts.has(why);
  }

  /**
   * Fires the signal. All reasons are remembered, as the outcome goes by their rank; the signal keeps the first one. When it is
   * over it still fires, as the handler may be at work after `transactional`, but no longer counts.
   */
  abort(why: AbortWhy, cause?: JobsError): AttemptAbortedError {
    const { scope, id, attempt } = this.attempt;
    const reason = this.#aborts.get(why) ?? new AttemptAbortedError({ scope, id }, attempt, why, { cause });

    if (!this.#isOver) {
      this.#aborts.set(why, reason);
    }
    this.#controller.abort(reason);
    if (why !== 'stopped') {
      this.#cut?.abort(reason);
    }

    return reason;
  }

  /** Fires the signal because the attempt no longer owns its job. */
  lose(cause?: JobsError): AttemptAbortedError {
    const { scope, id, attempt } = this.attempt;
    return this.abort('lost', cause ?? new StaleAttemptError({ scope, id }, attempt));
  }

  /** @param ms at most 2^31-1, as definitions and submissions guarantee */
  limitTime(ms: number): void {
    this.#timeout = setTimeout(() => this.abort('timed_out'), ms);
  }

  /**
   * What was aborted before doesn't cut it: a handler that begins it after its time may still save what it has.
   *
   * @returns fires when it can't complete the job any more: its time is up, a cancel was requested, the job is lost. Not for a stop: until
   *   its grace is over, when the job is lost, the work may end.
   */
  beginCompleting(): AbortSignal {
    this.#isCompleting = true;
    this.#cut = new AbortController();

    return this.#cut.signal;
  }

  /** From here on the database decides. */
  beginSettling(): void {
    this.#isSettling = true;
  }

  failCompleting(): void {
    this.#isCompleting = false;
    this.#isSettling = false;
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timeout);
  }
}
