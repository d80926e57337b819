import type { Clock } from '../core/clock.ts';
import { AmbientTransactionError, AttemptSettledError, InvalidOptionError } from '../core/errors.ts';
import type { EventStream } from '../core/event-stream.ts';
import type { ExecutorEnvironment } from '../core/executor-environment.ts';
import { KeyInProgressError } from '../core/handler-errors.ts';
import type { IdempotencyStore } from '../core/idempotency.ts';
import type { Logger } from '../core/logger.ts';
import { resolveOnce, storedValue, valueText, waitForKeyMs, type FromJson, type OnceOptions } from '../core/once.ts';
import { microsOfMs } from '../core/time.ts';
import { attemptFields, eventAttempt } from './attempt-fields.ts';
import { persist } from './persist.ts';
import type { RunningAttempt } from './running-attempt.ts';

export interface OnceParts<Em> {
  readonly idempotency: IdempotencyStore;
  readonly environment: ExecutorEnvironment<Em>;
  readonly clock: Clock;
  readonly events: Pick<EventStream, 'emit'>;
  readonly logger: Logger;
}

/** `job.once` of one attempt: work outside the database, done under a key that is claimed before and completed after. */
export class Once<Em> {
  readonly #run: RunningAttempt;
  readonly #em: Em;
  readonly #parts: OnceParts<Em>;
  readonly #atWork = new Set<string>();

  constructor(run: RunningAttempt, em: Em, parts: OnceParts<Em>) {
    this.#run = run;
    this.#em = em;
    this.#parts = parts;
  }

  /** @throws what `RunningJob.once` says, as a rejection */
  once<T>(key: string, options: OnceOptions, work: () => Promise<T>): Promise<FromJson<T>> {
    const result = this.#begin(key, options, work);
    // A handler that doesn't await it must not end the process with an unhandled rejection.
    result.catch(() => {});

    return result;
  }

  async #begin<T>(key: string, options: OnceOptions, work: () => Promise<T>): Promise<FromJson<T>> {
    const limits = resolveOnce(key, options, work);
    this.#check();
    this.#refuseTransaction();
    if (this.#atWork.has(key)) {
      throw new InvalidOptionError('key', 'be one that this attempt is not at work under already', key);
    }

    this.#atWork.add(key);
    try {
      return storedValue<T>(await this.#valueOf(key, limits, work));
    } finally {
      this.#atWork.delete(key);
    }
  }

  /** Ends in the second round at the latest, unless others keep taking an expired claim. */
  async #valueOf(
    key: string,
    { ttlMs, claimTtlMs }: ReturnType<typeof resolveOnce>,
    work: () => unknown,
  ): Promise<string | null> {
    const { idempotency } = this.#parts;
    let done: { readonly value: string | null } | null = null;

    for (;;) {
      const claim = await this.#claim(key, claimTtlMs);
      if (claim.answer === 'completed') {
        return claim.value;
      }

      done ??= await this.#work(key, work);
      const { value } = done;
      const write = () => idempotency.completeKey(this.#run.ref, key, value, this.#in(ttlMs));
      if ((await this.#complete(key, write)) === 'completed') {
        return value;
      }
    }
  }

  async #claim(key: string, claimTtlMs: number) {
    this.#check();
    const { attempt } = this.#run;
    const claim = await this.#parts.idempotency.claimKey(this.#run.ref, key, this.#in(claimTtlMs));

    switch (claim.answer) {
      case 'claimed':
      case 'completed':
        return claim;
      case 'in_progress':
        throw new KeyInProgressError({ scope: attempt.scope, id: attempt.id }, key, waitForKeyMs(attempt.attempt));
      case 'lost':
        this.#parts.events.emit({ event: 'attempt_lost', ...eventAttempt(attempt) });
        throw this.#run.abort('lost');
    }
  }

  async #work(key: string, work: () => unknown): Promise<{ readonly value: string | null }> {
    try {
      return { value: valueText(key, await work()) };
    } catch (error) {
      await this.#release(key);
      throw error;
    }
  }

  /** The work is done: what is not written now would be done again, so it is tried for as long as the attempt may go on. */
  #complete(key: string, complete: () => Promise<'completed' | 'lost'>): Promise<'completed' | 'lost'> {
    let hasFailed = false;

    return persist(async () => {
      if (this.#isGone) {
        return 'lost';
      }

      try {
        return await complete();
      } catch (error) {
        if (!hasFailed) {
          hasFailed = true;
          const fields = { event: 'once_failed', ...attemptFields(this.#run.attempt), key, error };
          this.#parts.logger.error(fields, 'what work under a key gave could not be written; it is tried again');
        }
        throw error;
      }
    }, this.#run.signal);
  }

  /** Only for others' sake: when this attempt has ended, they take the key anyway. */
  async #release(key: string): Promise<void> {
    if (this.#isGone) {
      return;
    }

    try {
      await this.#parts.idempotency.releaseKey(this.#run.ref, key);
    } catch (error) {
      const fields = { event: 'once_release_failed', ...attemptFields(this.#run.attempt), key, error };
      this.#parts.logger.warn(fields, 'a key could not be given free; others wait until this attempt has ended');
    }
  }

  /** The transaction of the handler's, or the one that settles it, may have the only connection. */
  #refuseTransaction(): void {
    const advice = 'Call it before the transaction.';
    if (this.#run.isCompleting) {
      throw new AmbientTransactionError('job.once()', advice);
    }
    this.#parts.environment.refuseTransaction(this.#em, 'job.once()', advice);
  }

  /** Nothing is sent for an attempt that has lost its job, or that is over. */
  #check(): void {
    if (this.#run.wasAborted('lost')) {
      throw this.#run.abort('lost');
    }
    if (this.#run.isOver) {
      const { scope, id, attempt } = this.#run.attempt;
      throw new AttemptSettledError({ scope, id }, attempt, '`once()`', 'was settled');
    }
  }

  get #isGone(): boolean {
    return this.#run.isOver || this.#run.wasAborted('lost');
  }

  #in(ms: number): number {
    return this.#parts.clock.now() + microsOfMs(ms);
  }
}
