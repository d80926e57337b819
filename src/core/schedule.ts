import { Cron } from 'croner';
import { InvalidOptionError } from './errors.ts';
import { microsOf, type Micros } from './time.ts';

/** What becomes of occurrences that nobody fired in time: the latest one is made up for, none is, or the latest so many are. */
export type Missed = 'one' | 'none' | { readonly upTo: number };

/** An occurrence that is fired later than this was missed. */
const missedAfterMicros: Micros = 60_000_000;
const maxMissed = 1000;

/**
 * When a recurring job is due: a cron expression, read in a time zone. Five fields, or six with seconds first; where both day
 * fields are restricted either may match, as cron has always done. A fixed time, whose seconds, minutes and hours are numbers, lists
 * or ranges, falls on the first instant after a gap of that day, and comes once in an hour that comes twice. With `*` or a step in
 * one of them, what the clock skips is left out and what comes twice comes twice.
 */
export class Schedule {
  readonly #cron: Cron;

  /** @throws InvalidOptionError for an expression or a zone that can't be read, and for one that never comes */
  constructor(cron: string, timeZone: string) {
    this.#cron = parsed(cron, timeZone);
  }

  /** The first occurrence later than this instant; null: there is none. */
  next(after: Micros): Micros | null {
    // croner strips milliseconds, so an instant inside a second would count its own second as passed.
    const run = this.#cron.nextRun(new Date(Math.floor(after / 1000)));

    return run === null ? null : microsOf(run);
  }

  /** The next so many. */
  occurrences(after: Micros, count: number): Micros[] {
    return this.#cron.nextRuns(count, new Date(Math.floor(after / 1000))).map(microsOf);
  }

  /**
   * What to fire now, given the stored next occurrence: which occurrences get a job, the earliest first, and which one is next. The
   * latest is never skipped unless it is late by more than a minute and `missed` is `'none'`.
   */
  plan(nextFireAt: Micros, now: Micros, missed: Missed): { readonly fire: Micros[]; readonly next: Micros | null } {
    const past = this.#past(nextFireAt, now, missed === 'one' || missed === 'none' ? 1 : missed.upTo);
    const latest = past.at(-1)!;
    const isMissed = now - latest > missedAfterMicros;

    // A clock may have been set back since it was found due: the same occurrence must not come again.
    return { fire: missed === 'none' && isMissed ? [] : past, next: this.next(Math.max(now, nextFireAt)) };
  }

  /** The latest so many occurrences from the stored one to now; the stored one at least. */
  #past(nextFireAt: Micros, now: Micros, count: number): Micros[] {
    const runs: Micros[] = [];
    // Earlier than the second after now. croner strips milliseconds here as well, and would count that second itself.
    let run = this.#previous((Math.floor(now / 1_000_000) + 1) * 1_000_000);
    while (run !== null && run >= nextFireAt && runs.length < count) {
      runs.push(run);
      run = this.#previous(run);
    }

    return runs.length === 0 ? [nextFireAt] : runs.reverse();
  }

  /** The last occurrence earlier than this whole second. */
  #previous(before: Micros): Micros | null {
    const [run] = this.#cron.previousRuns(1, new Date(before / 1000));

    return run === undefined ? null : microsOf(run);
  }
}

/** @throws InvalidOptionError */
export function checkedMissed(missed: unknown): Missed {
  if (missed === 'one' || missed === 'none') {
    return missed;
  }

  const { upTo, ...others } = (missed ?? {}) as { upTo?: unknown };
  if (
    Object.keys(others).length > 0 ||
    !Number.isInteger(upTo) ||
    (upTo as number) < 1 ||
    (upTo as number) > maxMissed
  ) {
    throw new InvalidOptionError('missed', `be 'one', 'none' or { upTo: 1 to ${maxMissed} }`, missed);
  }

  return Object.freeze({ upTo: upTo as number });
}

function parsed(cron: string, timeZone: string): Cron {
  checkZone(timeZone);
  if (typeof cron !== 'string' || cron.length > 255 || ![5, 6].includes(cron.trim().split(/\s+/).length)) {
    throw new InvalidOptionError('cron', 'be a cron expression of five fields, or six with seconds first', cron);
  }

  try {
    // Without the rule croner takes `30 2,14 * * *` for a pattern, which comes twice in autumn and not at all in spring.
    const options = { timezone: timeZone, paused: true, fixedTimeRule: 'no-wildcard' } as const;
    const schedule = new Cron(cron, options);
    if (new Cron(thinned(cron), options).nextRun() !== null) {
      return schedule;
    }
  } catch (error) {
    throw new InvalidOptionError('cron', `be a cron expression (${(error as Error).message})`, cron);
  }

  throw new InvalidOptionError('cron', 'come at some time: it never does', cron);
}

/**
 * Comes if and only if the expression does, as clocks change by half hours; and tells a thousand times sooner of one that has every
 * second of an hour that is always skipped. A step stays a step: it is what makes a time that goes on of a fixed one.
 */
function thinned(cron: string): string {
  const fields = cron.trim().split(/\s+/);
  const minutes = fields.length - 5;
  const inFewSeconds = (field: string) => (/[*/]/.test(field) ? '*/30' : '0');

  return [
    ...fields.slice(0, minutes).map(inFewSeconds),
    fields[minutes] === '*' ? '*/30' : fields[minutes],
    ...fields.slice(minutes + 1),
  ].join(' ');
}

function checkZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch {
    throw new InvalidOptionError('timeZone', `be an IANA time zone such as 'Europe/Berlin'`, timeZone);
  }
}
