/** An instant at which a zone's clock was moved; offsets are added to UTC. All in ms. */
export interface Change {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

const minute = 60_000;
const day = 24 * 60 * minute;

/** Every change of the clock from the first of these years to the last, found by asking `Intl` day by day. */
export function changesOf(zone: string, firstYear: number, lastYear: number): Change[] {
  const offsetAt = offsetsOf(zone);
  const changes: Change[] = [];

  for (let from = Date.UTC(firstYear, 0, 1); from < Date.UTC(lastYear + 1, 0, 1); from += day) {
    const before = offsetAt(from);
    if (offsetAt(from + day) !== before) {
      const at = firstMinute(from, from + day, instant => offsetAt(instant) !== before);
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
  const [minutes, hours, days, months, weekdays] = cron.split(' ');

  return wall => {
    const date = new Date(wall);
    const isDay = isIn(days!, date.getUTCDate(), 1);
    const isWeekday = isIn(weekdays!, date.getUTCDay(), 0);

    return (
      isIn(minutes!, date.getUTCMinutes(), 0) &&
      isIn(hours!, date.getUTCHours(), 0) &&
      isIn(months!, date.getUTCMonth() + 1, 1) &&
      (days === '*' || weekdays === '*' ? isDay && isWeekday : isDay || isWeekday)
    );
  };
}

function isIn(field: string, value: number, least: number): boolean {
  return field.split(',').some(part => {
    const [range, step] = part.split('/');
    const [first, last] = range === '*' ? [least, Infinity] : range!.split('-').map(Number);

    return value >= first! && value <= (last ?? first!) && (value - first!) % Number(step ?? 1) === 0;
  });
}

function minutes(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, (to - from) / minute) }, (_, index) => from + index * minute);
}

function dayOf(wall: number): number {
  return Math.floor(wall / day);
}
