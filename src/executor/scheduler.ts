import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { RecurringJob, RecurringStore } from '../core/recurring.ts';
import { Schedule } from '../core/schedule.ts';
import { Health } from './health.ts';
import { WakeUp } from './wake-up.ts';

const batch = 100;
const afterFailureMs = 5000;

export interface SchedulerParts {
  readonly store: Pick<RecurringStore, 'dueRecurring' | 'fire'>;
  /** How long it sleeps at most, for what other processes change. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Fires recurring jobs when they are due. Every executor does; the store lets one of them win each occurrence. */
export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #changed = new WakeUp();
  readonly #health: Health;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.#health = new Health('fire', parts.logger);
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
    const { store, clock, intervalMs } = this.#parts;

    try {
      const { due, nextFireAt } = await store.dueRecurring(batch);
      const failures = await this.#fireAll(due, stopping);
      if (failures.length > 0) {
        throw failures[0];
      }

      this.#health.worked();
      const restMs = nextFireAt === null ? intervalMs : Math.ceil((nextFireAt - clock.now()) / 1000) + 1;
      return Math.min(Math.max(restMs, 0), intervalMs);
    } catch (error) {
      this.#health.failed(error);
      return Math.min(intervalMs, afterFailureMs);
    }
  }

  /** One that can't be fired stops no other. @returns the errors */
  async #fireAll(due: readonly RecurringJob[], stopping: AbortSignal): Promise<unknown[]> {
    const failures: unknown[] = [];

    for (const job of due) {
      if (!stopping.aborted) {
        await this.#fire(job).catch((error: unknown) => failures.push(error));
      }
    }

    return failures;
  }

  /** One that can't be read any more is parked, so that it stops no other; an upsert takes it up again. */
  async #fire({ scope, id, cron, timeZone, missed, nextFireAt }: RecurringJob): Promise<void> {
    const { store, clock, logger } = this.#parts;
    const expected = nextFireAt!;
    let plan;

    try {
      plan = new Schedule(cron, timeZone).plan(expected, clock.now(), missed);
    } catch (error) {
      logger.error(
        { event: 'schedule_broken', scope, id, error },
        "a recurring job's schedule can't be read; it is parked",
      );
      plan = { fire: [], next: null };
    }

    const { won, created } = await store.fire({
      key: { scope, id },
      expected,
      next: plan.next,
      occurrences: plan.fire,
    });
    if (won) {
      logger.info(
        { event: 'recurring_fired', scope, id, created, skipped: plan.fire.length - created },
        'a recurring job fired',
      );
    }
  }
}
