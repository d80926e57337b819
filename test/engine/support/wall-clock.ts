/** An instant at which a zone's clock was moved; offsets are added to UTC. All in ms. */
export interface Change {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

const minute = 60_000;
const day = 24 * 60 * minute;
const week = 7 * day;

/** Every change of the clock from the first of these years to the last, found by asking `Intl` week by week. */
export function changesOf(zone: string, firstYear: number, lastYear: number): Change[] {
  const offsetAt = offsetsOf(zone);
  const changes: Change[] = [];

  for (let from = Date.UTC(firstYear, 0, 1); from < Date.UTC(lastYear + 1, 0, 1); from += week) {
    const before = offsetAt(from);
    if (offsetAt(from + week) !== before) {
      const at = firstMinute(from, from + week, instant => offsetAt(instant) !== before);
      changes.push({ at, before, after: offsetAt(at) });
    }
  }

  return changes;
}

/**
 * What docs/recurring.md promises of a five-field expression between two instants (the first left out) with one change between
 * them: each minute is looked at, and the clock on the wall read. Knows numbers, lists, ranges, steps and *, no names.
 */
export function occurrencesAround({ at, before, after }: Change, cron: string, from: number, to: number): number[] {
  const isListed = matcherOf(cron);
  const isFixed = !/[*/]/.test(cron.split(' ').slice(0, 2).join());
  const listed = minutes(from + minute, to + minute).filter(instant => {
    const isSecondPass = instant >= at && instant + after < at + before;

    return isListed(instant + (instant < at ? before : after)) && !(isFixed && isSecondPass);
  });
  const isMoved = minutes(at + before, at + after).some(wall => isListed(wall) && dayOf(wall) === dayOf(at + after));

  return isFixed && isMoved ? [...new Set([...listed, at])].sort((a, b) => a - b) : listed;
}

function offsetsOf(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });

  return instant => {
    const [, sign, hours, rest] = /GMT(?:([+-])(\d\d):(\d\d))?$/.exec(format.format(instant))!;

    return sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(rest)) * minute;
  };
}

function firstMinute(from: number, to: number, is: (instant: number) => boolean): number {
  if (to - from <= minute) return to;
  const middle = from + Math.floor((to - from) / 2 / minute) * minute;

  return is(middle) ? firstMinute(from, middle, is) : firstMinute(middle, to, is);
}

/** The wall time is given as the ms that UTC would have then. */
function matcherOf(cron: string): (wall: number) => boolean {
  const [minuteField, hourField, dayField, monthField, weekdayField] = cron.split(' ');
  const [minutes, hours, days] = [
    valuesOf(minuteField!, 0, 59),
    valuesOf(hourField!, 0, 23),
    valuesOf(dayField!, 1, 31),
  ];
  const [months, weekdays] = [valuesOf(monthField!, 1, 12), valuesOf(weekdayField!, 0, 6)];
  const isEither = dayField !== '*' && weekdayField !== '*';

  return wall => {
    const date = new Date(wall);
    if (!minutes.has(date.getUTCMinutes()) || !hours.has(date.getUTCHours()) || !months.has(date.getUTCMonth() + 1)) {
      return false;
    }
    const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];

    return isEither ? isDay || isWeekday : isDay && isWeekday;
  };
}

function valuesOf(field: string, least: number, most: number): Set<number> {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const [range, step] = part.split('/') as [string, string?];
    const [first, last] = range === '*' ? [least, most] : (range.split('-').map(Number) as [number, number?]);
    for (let value = first; value <= (last ?? first); value += Number(step ?? 1)) values.add(value);
  }

  return values;
}

function minutes(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, (to - from) / minute) }, (_, index) => from + index * minute);
}

function dayOf(wall: number): number {
  return Math.floor(wall / day);
}
