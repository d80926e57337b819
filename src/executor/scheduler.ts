import { fireDue, type FiringParts } from './fire-due.ts';
import { Health } from './health.ts';
import { WakeUp } from './wake-up.ts';

const afterFailureMs = 5000;
const atLeastAfterFailureMs = 1000;
/** What another process has made due is to be found within the minute after which an occurrence was missed. */
const longestRestMs = 59_000;

export interface SchedulerParts extends FiringParts {
  /** How long it sleeps at most, for what other processes change; no longer than a minute in any case. */
  readonly intervalMs: number;
}

/** Fires recurring jobs when they are due. Every executor does; the store lets one of them win each occurrence. */
export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #changed = new WakeUp();
  readonly #health: Health;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.#health = new Health('fire', parts.events);
  }

  /** Recurring jobs were changed in this process. */
  wake(): void {
    this.#changed.notify();
  }

  /** Resolves when stopping is aborted and nothing of it is under way. Never rejects. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      this.#changed.clear();
      await this.#changed.wait(await this.#fireDue(stopping), stopping);
    }
  }

  /** @returns how long nothing will be due, in ms */
  async #fireDue(stopping: AbortSignal): Promise<number> {
    const { clock } = this.#parts;
    const intervalMs = Math.min(this.#parts.intervalMs, longestRestMs);

    try {
      const { nextFireAt, errors } = await fireDue(this.#parts, stopping);
      const restMs = nextFireAt === null ? intervalMs : Math.ceil((nextFireAt - clock.now()) / 1000) + 1;
      if (errors.length === 0) {
        this.#health.worked();
        return Math.min(Math.max(restMs, 0), intervalMs);
      }

      this.#health.failed(errors[0]);
      // What fails is still due, and more of it than is looked at would keep the loop turning.
      return Math.min(Math.max(restMs, atLeastAfterFailureMs), afterFailureMs, intervalMs);
    } catch (error) {
      this.#health.failed(error);
      return Math.min(intervalMs, afterFailureMs);
    }
  }
}
