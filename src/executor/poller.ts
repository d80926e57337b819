import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Attempt } from '../core/attempt.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { ClaimAnswer } from '../core/store.ts';
import { BackOff } from './back-off.ts';
import { Health } from './health.ts';
import { persist } from './persist.ts';
import { sleep } from './sleep.ts';
import { WakeUp } from './wake-up.ts';

export interface PollerParts {
  readonly claim: (limit: number) => Promise<ClaimAnswer>;
  /** Begins a claimed attempt and returns at once. */
  readonly begin: (attempt: Attempt) => void;
  /** Gives back what was claimed and never began. */
  readonly release: (attempts: readonly Attempt[]) => Promise<unknown>;
  /** Gives back what this executor holds and doesn't know: a claim was committed and its answer lost. */
  readonly releaseForgotten: () => Promise<unknown>;
  /** How many more attempts may begin. */
  readonly freeSlots: () => number;
  readonly pollIntervalMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const shortestBackOffMs = 50;

/**
 * Claims as many jobs as there are free slots and begins them at once. Sleeps until the next job is due, somebody wakes it,
 * or the poll interval is over; while all slots are taken, until one is free.
 */
export class Poller {
  readonly #parts: PollerParts;
  readonly #due = new WakeUp();
  readonly #freed = new WakeUp();
  readonly #health: Health;
  readonly #failures: BackOff;
  /** Counts polls that got nothing although something was due: somebody else holds it. */
  readonly #misses: BackOff;
  #mayHaveForgotten = false;
  #isHeldBack = false;

  constructor(parts: PollerParts) {
    this.#parts = parts;
    this.#health = new Health('claim', parts.logger);
    this.#failures = new BackOff(shortestBackOffMs, parts.pollIntervalMs);
    this.#misses = new BackOff(shortestBackOffMs, parts.pollIntervalMs);
  }

  /** Something may be due. */
  wake(): void {
    this.#due.notify();
  }

  /** A slot is free. */
  slotFreed(): void {
    this.#freed.notify();
    // What ended may have made room under a cap.
    if (this.#isHeldBack) {
      this.#due.notify();
    }
  }

  /** Polls until `stopping` is aborted, and then gives back what it claimed in vain, until the budget is over. Never rejects. */
  async run(stopping: AbortSignal, budget: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      this.#freed.clear();
      const slots = this.#parts.freeSlots();

      if (slots > 0) {
        await this.#poll(slots, stopping, budget);
      } else {
        await this.#freed.wait(null, stopping);
      }
    }

    if (this.#mayHaveForgotten) {
      await this.#giveBack(this.#parts.releaseForgotten, budget);
    }
  }

  async #poll(slots: number, stopping: AbortSignal, budget: AbortSignal): Promise<void> {
    this.#due.clear();
    const answer = await this.#claim(slots);
    if (answer === null) {
      return sleep(this.#failures.next(), stopping);
    }
    if (stopping.aborted) {
      return this.#giveBack(() => this.#parts.release(answer.attempts), budget);
    }

    answer.attempts.forEach(attempt => this.#parts.begin(attempt));
    // On SQLite no statement gives way to timers.
    await nextTurn();
    // What ended while the claim was under way may have made room under a cap that it still saw as reached.
    const mayHaveRoom = answer.isHeldBack && this.#freed.isPending;
    if (answer.attempts.length < slots && !mayHaveRoom) {
      await this.#due.wait(this.#restMs(answer), stopping);
    }
  }

  async #claim(limit: number): Promise<ClaimAnswer | null> {
    try {
      if (this.#mayHaveForgotten) {
        await this.#parts.releaseForgotten();
        this.#mayHaveForgotten = false;
      }
      const answer = await this.#parts.claim(limit);
      this.#isHeldBack = answer.isHeldBack;
      this.#failures.reset();
      this.#health.worked();

      return answer;
    } catch (error) {
      this.#mayHaveForgotten = true;
      this.#health.failed(error);

      return null;
    }
  }

  async #giveBack(release: () => Promise<unknown>, budget: AbortSignal): Promise<void> {
    try {
      await persist(release, budget);
    } catch (error) {
      this.#parts.logger.error(
        { event: 'release_failed', error },
        'claimed jobs could not be given back before the stop; they stay running until recovery decides',
      );
    }
  }

  #restMs({ attempts, nextDueAt }: ClaimAnswer): number {
    const { clock, pollIntervalMs } = this.#parts;
    if (attempts.length > 0) {
      this.#misses.reset();
    }
    if (nextDueAt === null) {
      return pollIntervalMs;
    }

    const untilDueMs = Math.ceil((nextDueAt - clock.now()) / 1000);
    if (untilDueMs > 0) {
      this.#misses.reset();
      // Timers may fire a millisecond early, and would poll in vain.
      return Math.min(untilDueMs + 1, pollIntervalMs);
    }

    return attempts.length > 0 ? 0 : this.#misses.next();
  }
}
