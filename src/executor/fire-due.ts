import type { Clock } from '../core/clock.ts';
import type { EventStream } from '../core/event-stream.ts';
import type { RecurringJob, RecurringStore } from '../core/recurring.ts';
import { Schedule } from '../core/schedule.ts';
import type { Micros } from '../core/time.ts';

const batch = 100;

export interface FiringParts {
  readonly store: Pick<RecurringStore, 'dueRecurring' | 'fire'>;
  readonly clock: Clock;
  readonly events: Pick<EventStream, 'emit'>;
}

export interface Fired {
  /** When the next one is due, of those that could be fired; may be now. Null: none will be. */
  readonly nextFireAt: Micros | null;
  /** Of those that could not be fired, which are still due. */
  readonly errors: readonly unknown[];
}

/** Fires the recurring jobs that are due, at most a hundred. One that can't be fired stops no other. */
export async function fireDue(parts: FiringParts, stopping?: AbortSignal): Promise<Fired> {
  const { due, nextFireAt } = await parts.store.dueRecurring(batch);
  const upcoming = [nextFireAt];
  const errors: unknown[] = [];

  for (const job of due) {
    if (!stopping?.aborted) {
      await fire(parts, job).then(
        next => upcoming.push(next),
        (error: unknown) => errors.push(error),
      );
    }
  }

  return { nextFireAt: soonest(upcoming), errors };
}

/**
 * One that can't be read any more is parked, so that it stops no other; an upsert takes it up again.
 *
 * @returns when it comes next, whoever fired this occurrence; null: never
 */
async function fire({ store, clock, events }: FiringParts, job: RecurringJob): Promise<Micros | null> {
  const { scope, id, cron, timeZone, missed, nextFireAt } = job;
  const expected = nextFireAt!;
  let plan;

  try {
    plan = new Schedule(cron, timeZone).plan(expected, clock.now(), missed);
  } catch (error) {
    events.emit({ event: 'schedule_broken', scope, id, error });
    plan = { fire: [], next: null };
  }

  const { won, created } = await store.fire({
    key: { scope, id },
    expected,
    next: plan.next,
    occurrences: plan.fire,
  });
  if (won) {
    events.emit({ event: 'recurring_fired', scope, id, created, skipped: plan.fire.length - created });
  }

  return plan.next;
}

function soonest(times: ReadonlyArray<Micros | null>): Micros | null {
  const known = times.filter(time => time !== null);

  return known.length === 0 ? null : Math.min(...known);
}
