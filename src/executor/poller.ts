import type { Attempt } from '../core/attempt.ts';
import type { Clock } from '../core/clock.ts';
import type { DueLane } from '../core/due-lane.ts';
import type { EventStream } from '../core/event-stream.ts';
import type { Logger } from '../core/logger.ts';
import { nextTurn } from '../core/next-turn.ts';
import type { ClaimAnswer } from '../core/store.ts';
import { microsOfMs, type Micros } from '../core/time.ts';
import { BackOff } from './back-off.ts';
import { Health } from './health.ts';
import { persist } from './persist.ts';
import { sleep } from './sleep.ts';
import { ToldLanes } from './told-lanes.ts';
import { WakeUp } from './wake-up.ts';

export interface PollerParts {
  /** With lanes: from these; null: from wherever something is due. */
  readonly claim: (limit: number, lanes: readonly DueLane[] | null) => Promise<ClaimAnswer>;
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
  readonly events: Pick<EventStream, 'emit'>;
  readonly logger: Logger;
}

const shortestBackOffMs = 50;

/**
 * Claims as many jobs as there are free slots and begins them at once. Sleeps until the next job is due, somebody wakes it,
 * or the poll interval is over; while all slots are taken, until one is free. Woken while it rests by somebody who says where jobs
 * are due, it claims there without a look, and goes on resting.
 */
export class Poller {
  readonly #parts: PollerParts;
  readonly #due = new WakeUp();
  readonly #told = new ToldLanes();
  readonly #freed = new WakeUp();
  readonly #health: Health;
  readonly #failures: BackOff;
  /** Counts polls that got nothing although something was due: somebody else holds it. */
  readonly #misses: BackOff;
  /** Counts looks for room below a cap that found none. */
  readonly #vainLooks = new BackOff(10, 250);
  #roomPauseMs = 0;
  #roomTimer: NodeJS.Timeout | undefined;
  #isRoomMade = false;
  #mayHaveForgotten = false;
  #isHeldBack = false;
  /** Nothing that it was not told of is due before. */
  #restsUntil: Micros = 0;

  constructor(parts: PollerParts) {
    this.#parts = parts;
    this.#health = new Health('claim', parts.events);
    this.#failures = new BackOff(shortestBackOffMs, parts.pollIntervalMs);
    this.#misses = new BackOff(shortestBackOffMs, parts.pollIntervalMs);
  }

  /** Something may be due: in these lanes, or anywhere. */
  wake(lanes?: readonly DueLane[]): void {
    this.#told.add(lanes);
    this.#due.notify();
  }

  /** A slot is free. */
  slotFreed(): void {
    this.#freed.notify();
    // What ended may have made room below a cap as well.
    if (this.#isHeldBack) {
      this.wake();
    }
  }

  /** What ended elsewhere made room below a cap. Of many that hear of it few get it: those that got nothing look less and less often. */
  roomMade(): void {
    this.#isRoomMade = true;
    if (this.#isHeldBack) {
      this.#lookForRoom();
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

    clearTimeout(this.#roomTimer);
    if (this.#mayHaveForgotten) {
      await this.#giveBack(this.#parts.releaseForgotten, budget);
    }
  }

  #lookForRoom(): void {
    if (this.#roomPauseMs === 0) {
      return this.wake();
    }

    this.#roomTimer ??= setTimeout(() => {
      this.#roomTimer = undefined;
      this.wake();
    }, this.#roomPauseMs);
  }

  async #poll(slots: number, stopping: AbortSignal, budget: AbortSignal): Promise<void> {
    this.#due.clear();
    this.#isRoomMade = false;
    const told = this.#told.take();
    const lanes = this.#restLeftMs > 0 ? told : null;
    const answer = await this.#claim(slots, lanes);
    if (answer === null) {
      return sleep(this.#failures.next(), stopping);
    }
    if (stopping.aborted) {
      return this.#giveBack(() => this.#parts.release(answer.attempts), budget);
    }

    answer.attempts.forEach(attempt => this.#parts.begin(attempt));
    // On SQLite no statement gives way to timers.
    await nextTurn();
    if (answer.attempts.length === slots) {
      this.#restsUntil = 0;
    } else if (lanes === null) {
      await this.#rest(answer, stopping);
    } else {
      await this.#restOn(answer, lanes, stopping);
    }
  }

  async #rest(answer: ClaimAnswer, stopping: AbortSignal): Promise<void> {
    // What ended while the claim was under way may have made room under a cap that it still saw as reached.
    const mayHaveRoom = answer.isHeldBack && this.#freed.isPending;
    const restMs = mayHaveRoom ? 0 : this.#restMs(answer);

    this.#restsUntil = this.#parts.clock.now() + microsOfMs(restMs);
    if (answer.isHeldBack && this.#isRoomMade) {
      this.#lookForRoom();
    }
    if (restMs > 0) {
      await this.#due.wait(restMs, stopping);
    }
  }

  /** After a claim of what it was told of: if that gave less, somebody else has the rest, or a cap or a pause holds it back. */
  async #restOn(answer: ClaimAnswer, lanes: readonly DueLane[], stopping: AbortSignal): Promise<void> {
    const restMs = this.#restLeftMs;

    if (answer.attempts.length < lanes.reduce((sum, { count }) => sum + count, 0)) {
      this.#told.add(undefined);
    } else if (restMs > 0) {
      await this.#due.wait(restMs, stopping);
    }
  }

  /** A clock that was set back must not make it longer: what is due meanwhile is found by a look only. */
  get #restLeftMs(): number {
    const { clock, pollIntervalMs } = this.#parts;
    const leftMs = Math.ceil((this.#restsUntil - clock.now()) / 1000);

    return leftMs <= pollIntervalMs ? leftMs : 0;
  }

  async #claim(limit: number, lanes: readonly DueLane[] | null): Promise<ClaimAnswer | null> {
    try {
      if (this.#mayHaveForgotten) {
        await this.#parts.releaseForgotten();
        this.#mayHaveForgotten = false;
      }
      const answer = await this.#parts.claim(limit, lanes);
      if (lanes === null) {
        this.#noteHeldBack(answer);
      }
      this.#failures.reset();
      this.#health.worked();

      return answer;
    } catch (error) {
      this.#mayHaveForgotten = true;
      this.#told.add(undefined);
      this.#health.failed(error);

      return null;
    }
  }

  #noteHeldBack({ attempts, isHeldBack }: ClaimAnswer): void {
    this.#isHeldBack = isHeldBack;
    if (isHeldBack && attempts.length === 0) {
      this.#roomPauseMs = this.#vainLooks.next();
    } else {
      this.#vainLooks.reset();
      this.#roomPauseMs = 0;
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
