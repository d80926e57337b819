import { describe, expect, test } from '@jest/globals';
import { checkedMissed, Schedule, type Missed } from '../../src/core/schedule.ts';
import { dateOf, microsOf, type Micros } from '../../src/core/time.ts';

describe('the next occurrence', () => {
  const fields: Array<[what: string, cron: string, after: string, expected: string[]]> = [
    ['five fields', '5 4 * * *', '2026-01-01T00:00Z', ['2026-01-01T04:05:00Z', '2026-01-02T04:05:00Z']],
    ['six fields, seconds first', '30 * * * * *', '2026-01-01T00:00:30Z', ['2026-01-01T00:01:30Z', '2026-01-01T00:02:30Z']],
    ['every second, from within one', '* * * * * *', '2026-01-01T00:00:00.500Z', ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z']],
    ['the minute after the boundary, not the boundary', '* * * * *', '2026-01-01T00:01:00Z', ['2026-01-01T00:02:00Z']],
    ['the boundary, a moment before it', '* * * * *', '2026-01-01T00:00:59.999Z', ['2026-01-01T00:01:00Z']],
    ['steps', '*/20 3 * * *', '2026-01-01T00:00Z', ['2026-01-01T03:00:00Z', '2026-01-01T03:20:00Z', '2026-01-01T03:40:00Z', '2026-01-02T03:00:00Z']],
    ['ranges with steps', '0 8-12/2 * * *', '2026-01-01T00:00Z', ['2026-01-01T08:00:00Z', '2026-01-01T10:00:00Z', '2026-01-01T12:00:00Z', '2026-01-02T08:00:00Z']],
    ['names in any case', '0 0 * jan,DEC Sun', '2026-01-18T12:00Z', ['2026-01-25T00:00:00Z', '2026-12-06T00:00:00Z']],
    ['Sunday as 0', '0 0 * * 0', '2026-01-01T00:00Z', ['2026-01-04T00:00:00Z', '2026-01-11T00:00:00Z']],
    ['Sunday as 7', '0 0 * * 7', '2026-01-01T00:00Z', ['2026-01-04T00:00:00Z', '2026-01-11T00:00:00Z']],
    ['the 13th or a Friday, as cron has always done', '0 0 13 * 5', '2026-01-03T00:00Z', ['2026-01-09T00:00:00Z', '2026-01-13T00:00:00Z', '2026-01-16T00:00:00Z']],
    ['any Friday, where the day of the month is open', '0 0 * * 5', '2026-01-03T00:00Z', ['2026-01-09T00:00:00Z', '2026-01-16T00:00:00Z']],
    ['day 31, only where there is one', '0 0 31 * *', '2026-01-31T00:00Z', ['2026-03-31T00:00:00Z', '2026-05-31T00:00:00Z', '2026-07-31T00:00:00Z', '2026-08-31T00:00:00Z']],
    ['day 30 or 31 of February and March', '0 0 30,31 2,3 *', '2026-01-31T00:00Z', ['2026-03-30T00:00:00Z', '2026-03-31T00:00:00Z', '2027-03-30T00:00:00Z']],
    ['29 February, years away', '0 0 29 2 *', '2026-01-31T00:00Z', ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z']],
    ['29 February, over a century without one', '0 0 29 2 *', '2096-03-01T00:00Z', ['2104-02-29T00:00:00Z']],
    ['the first of the next month, asked on the 2nd', '0 4 1 * *', '2026-01-02T00:00Z', ['2026-02-01T04:00:00Z']],
  ]; // prettier-ignore

  test.each(fields)('of %s: %s', (_, cron, after, expected) => {
    expect(nexts(new Schedule(cron, 'UTC'), after, expected.length)).toEqual(instants(expected));
  });

  const zones: Array<[what: string, cron: string, zone: string, after: string, expected: string[]]> = [
    ['is read in its zone, never in the machine’s', '0 9 * * 2', 'America/Chicago', '2026-03-01T00:00Z', ['2026-03-03T15:00:00Z', '2026-03-10T14:00:00Z']],
    ['is read in a zone half an hour off', '0 9 * * 2', 'Asia/Kolkata', '2026-03-01T00:00Z', ['2026-03-03T03:30:00Z', '2026-03-10T03:30:00Z']],
    ['moves with the clock once, when winter begins', '0 6 * * MON', 'America/New_York', '2021-11-01T10:00Z', ['2021-11-08T11:00:00Z', '2021-11-15T11:00:00Z']],
    ['moves with the clock once, when summer begins', '0 17,19 * * 1-5', 'America/New_York', '2020-03-07T00:00Z', ['2020-03-09T21:00:00Z', '2020-03-09T23:00:00Z', '2020-03-10T21:00:00Z']],
    ['falls on the first instant after the gap (New York)', '30 2 * * *', 'America/New_York', '2026-03-08T06:30Z', ['2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z']],
    ['falls on the first instant after the gap (Chicago)', '1 2 * * 0', 'America/Chicago', '2024-03-09T12:00Z', ['2024-03-10T08:00:00Z', '2024-03-17T07:01:00Z']],
    ['falls on the first instant after the gap (Berlin)', '30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z']],
    ['falls on the first instant after the gap (London)', '15 1 * * *', 'Europe/London', '2026-03-28T12:00Z', ['2026-03-29T01:00:00Z', '2026-03-30T00:15:00Z']],
    ['falls on the first instant after a gap of half an hour', '15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T20:00Z', ['2026-10-03T15:30:00Z', '2026-10-04T15:15:00Z']],
    ['falls on the first instant after a gap at midnight', '0 0 * * *', 'America/Sao_Paulo', '2014-10-18T04:00Z', ['2014-10-19T03:00:00Z', '2014-10-20T02:00:00Z']],
    ['isn’t lost beside a zone that changes at midnight', '0 0 10 * *', 'America/Sao_Paulo', '2014-10-19T00:00Z', ['2014-11-10T02:00:00Z', '2014-12-10T02:00:00Z']],
    ['is one, where a skipped time falls on another', '0 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-29T01:00:00Z', '2026-03-30T00:00:00Z', '2026-03-30T01:00:00Z']],
    ['comes once in the hour that comes twice (New York)', '30 1 * * *', 'America/New_York', '2026-11-01T04:30Z', ['2026-11-01T05:30:00Z', '2026-11-02T06:30:00Z']],
    ['comes once in the hour that comes twice (Berlin)', '30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']],
    ['comes once in the hour that comes twice, asked within its second half', '30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10Z', ['2026-10-26T01:30:00Z']],
    ['comes once in the half hour that comes twice', '45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00Z', ['2026-04-04T14:45:00Z', '2026-04-05T15:15:00Z']],
    ['comes once in the hour before midnight that comes twice', '30 23 * * *', 'America/Sao_Paulo', '2015-02-21T12:00Z', ['2015-02-22T01:30:00Z', '2015-02-23T02:30:00Z']],
    ['goes on each minute, also asked within the repeated hour', '* * * * *', 'Europe/Amsterdam', '2023-10-29T01:10:30Z', ['2023-10-29T01:11:00Z', '2023-10-29T01:12:00Z']],
    ['goes on each minute out of the gap', '* * * * *', 'Europe/London', '2026-03-29T00:58Z', ['2026-03-29T00:59:00Z', '2026-03-29T01:00:00Z', '2026-03-29T01:01:00Z']],
    ['goes on each hour through the repeated one', '0 * * * *', 'America/New_York', '2026-11-01T04:30Z', ['2026-11-01T05:00:00Z', '2026-11-01T06:00:00Z', '2026-11-01T07:00:00Z']],
    ['goes on each quarter through a repeated half hour', '*/15 * * * *', 'Australia/Lord_Howe', '2026-04-04T14:30Z', ['2026-04-04T14:45:00Z', '2026-04-04T15:00:00Z', '2026-04-04T15:15:00Z', '2026-04-04T15:30:00Z']],
    ['leaves out what a pattern of steps has inside the gap', '*/20 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-30T00:00:00Z', '2026-03-30T00:20:00Z']],
  ]; // prettier-ignore

  test.each(zones)('%s: %s in %s', (_, cron, zone, after, expected) => {
    expect(nexts(new Schedule(cron, zone), after, expected.length)).toEqual(instants(expected));
  });

  test('comes sixty times in the hour that comes twice, each minute', () => {
    const runs = nexts(new Schedule('* * * * *', 'Europe/London'), '2016-10-30T00:59Z', 61);

    expect([runs[0], runs[60]]).toEqual(instants(['2016-10-30T01:00Z', '2016-10-30T02:00Z']));
  });

  test('agrees with the list of the next ones', () => {
    const schedule = new Schedule('*/7 1-3 * * *', 'Europe/Berlin');
    const after = micros('2026-10-24T12:00:00.250Z');

    expect(schedule.occurrences(after, 100).map(iso)).toEqual(nexts(schedule, '2026-10-24T12:00:00.250Z', 100));
  });
});

describe('a thousand successive occurrences', () => {
  const zones = ['America/New_York', 'Europe/Berlin', 'Europe/London', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Apia', 'Africa/Casablanca', 'UTC']; // prettier-ignore
  const starts: Array<[cron: string, after: string]> = [
    ['*/3 * * * *', '2026-03-07T12:00Z'],
    ['*/3 * * * *', '2026-10-31T12:00Z'],
    ['*/3 * * * *', '2026-10-24T12:00Z'],
    ['*/3 * * * *', '2026-04-04T00:00Z'],
    ['*/10 0-3 * * *', '2026-03-01T00:00Z'],
    ['*/10 0-3 * * *', '2014-10-10T00:00Z'],
    ['30 2 * * *', '2026-01-01T00:00Z'],
    ['15 0 * * *', '2009-01-01T00:00Z'],
    ['0 0 1,15,31 * *', '2011-01-01T00:00Z'],
  ];

  test.each(zones)('of every pattern are strictly increasing in %s, each later than what was asked', zone => {
    for (const [cron, after] of starts) {
      const schedule = new Schedule(cron, zone);
      let last = micros(after);
      for (let i = 0; i < 1000; i++) {
        const next: Micros = schedule.next(last)!;
        if (next <= last) throw new Error(`${cron} after ${iso(last)}: ${iso(next)}`);
        last = next;
      }
    }
  });

  test.each(zones)('are never more than two days apart in %s, when they come daily', zone => {
    const schedule = new Schedule('30 2 * * *', zone);
    let last = schedule.next(micros('2009-01-01T00:00Z'))!;
    for (let i = 0; i < 1000; i++) {
      const next = schedule.next(last)!;
      if (next - last >= 48 * 3600 * 1e6) throw new Error(`${iso(last)}: ${iso(next)}`);
      last = next;
    }
  });
});

describe('refused', () => {
  test.each(['0 0 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 30,31 feb *'])('%s, which never comes', cron => {
    expect(() => new Schedule(cron, 'UTC')).toThrow(/`cron`.*never/);
  });

  test.each(['* 2 * 3 SUNL', '* 30 2 * 3 SUNL', '*/30 * 2 * 3 SUNL', '* * 2 * 3 SUNL', '0-59 */2 2 * 3 SUNL'])('%s, which only comes in a gap', cron => {
    expect(() => new Schedule(cron, 'Europe/Berlin')).toThrow(/`cron`.*never/);
  }); // prettier-ignore

  test.each(['30 2 * 3 SUNL', '7 30 2 * 3 SUNL', '0-59 30 2 * 3 SUNL'])('but not %s, a fixed time, which moves out of it', cron => {
    expect(new Schedule(cron, 'Europe/Berlin').next(0)).not.toBeNull();
  }); // prettier-ignore

  test.each(['0 25 * * *', '60 * * * *', '* * 0 * *', '* * 32 * *', '* * * 13 *', '* * * * 8', 'x * * * *', '*/0 * * * *', '5-1 * * * *', '', '* * * *', '* * * * * * *', '@daily', '2026-01-01T00:00:00', `0 0 ${'1,'.repeat(200)}1 * *`])('%s, which is no expression', cron => {
    expect(() => new Schedule(cron, 'UTC')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', option: 'cron', value: cron }));
  }); // prettier-ignore

  test.each([null, 5, {}])('%p, which is no text', cron => {
    expect(() => new Schedule(cron as never, 'UTC')).toThrow(/`cron`/);
  });

  test.each(['Mars/Base', '', 'europe', 'UTC+1', ' UTC'])('the zone %p', zone => {
    expect(() => new Schedule('* * * * *', zone)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', option: 'timeZone', value: zone }),
    );
  });

  test.each(['two', null, {}, { upTo: 0 }, { upTo: 1.5 }, { upTo: 1001 }, { upTo: '3' }])('missed: %p', missed => {
    expect(() => checkedMissed(missed)).toThrow(/`missed`/);
  });
});

describe('a plan', () => {
  const due = '2026-01-01T00:00Z';
  const plans: Array<[what: string, cron: string, now: string, missed: Missed, fire: string[], next: string]> = [
    ['fires what is due on the instant', '* * * * *', '2026-01-01T00:00:00Z', 'one', [due], '2026-01-01T00:01Z'],
    ['fires what is due since less than a minute', '* * * * *', '2026-01-01T00:00:59.999Z', 'one', [due], '2026-01-01T00:01Z'],
    ['fires the latest of two, when the next has come', '* * * * *', '2026-01-01T00:01:00Z', 'one', ['2026-01-01T00:01Z'], '2026-01-01T00:02Z'],
    ['makes up for the latest', '*/5 * * * *', '2026-01-01T01:03Z', 'one', ['2026-01-01T01:00Z'], '2026-01-01T01:05Z'],
    ['makes up for a daily one, hours late', '0 0 * * *', '2026-01-01T23:59Z', 'one', [due], '2026-01-02T00:00Z'],
    ['makes up for none', '*/5 * * * *', '2026-01-01T01:03Z', 'none', [], '2026-01-01T01:05Z'],
    ['makes up for none, but fires what is due now', '*/5 * * * *', '2026-01-01T01:00:30Z', 'none', ['2026-01-01T01:00Z'], '2026-01-01T01:05Z'],
    ['does not take a minute for missed', '0 0 * * *', '2026-01-01T00:01:00Z', 'none', [due], '2026-01-02T00:00Z'],
    ['takes more than a minute for missed', '0 0 * * *', '2026-01-01T00:01:00.001Z', 'none', [], '2026-01-02T00:00Z'],
    ['makes up for the latest so many, the earliest first', '*/5 * * * *', '2026-01-01T01:03Z', { upTo: 3 }, ['2026-01-01T00:50Z', '2026-01-01T00:55Z', '2026-01-01T01:00Z'], '2026-01-01T01:05Z'],
    ['makes up for all, where they are fewer', '*/5 * * * *', '2026-01-01T00:07Z', { upTo: 1000 }, [due, '2026-01-01T00:05Z'], '2026-01-01T00:10Z'],
    ['makes up for the latest second, from within the next', '* * * * * *', '2026-01-01T00:10:00.500Z', 'one', ['2026-01-01T00:10Z'], '2026-01-01T00:10:01Z'],
    ['makes up for as many seconds as it is told, from within one', '* * * * * *', '2026-01-01T00:10:00.500Z', { upTo: 2 }, ['2026-01-01T00:09:59Z', '2026-01-01T00:10Z'], '2026-01-01T00:10:01Z'],
    ['passes over the same occurrence, when the clock was set back since', '* * * * *', '2025-12-31T23:59:59.980Z', 'one', [due], '2026-01-01T00:01Z'],
  ]; // prettier-ignore

  test.each(plans)('%s: %s at %s', (_, cron, now, missed, fire, next) => {
    const plan = new Schedule(cron, 'UTC').plan(micros(due), micros(now), missed);

    expect({ fire: plan.fire.map(iso), next: iso(plan.next!) }).toEqual({
      fire: instants(fire),
      next: instants([next])[0],
    });
  });

  test.each([
    ['30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00Z', '2026-03-31T12:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-23T12:00Z', '2026-10-27T12:00Z'],
    ['*/15 * * * *', 'America/New_York', '2026-11-01T03:00Z', '2026-11-01T09:00Z'],
    ['*/15 * * * *', 'America/New_York', '2026-03-08T03:00Z', '2026-03-08T12:00Z'],
    ['*/10 * * * *', 'Australia/Lord_Howe', '2026-04-04T12:00Z', '2026-04-04T18:00Z'],
    ['15 1,2 * * *', 'Australia/Lord_Howe', '2026-10-02T12:00Z', '2026-10-05T12:00Z'],
    ['0 0 * * *', 'America/Sao_Paulo', '2014-10-17T12:00Z', '2014-10-21T12:00Z'],
  ])('makes up for exactly what would have come: %s in %s', (cron, zone, from, to) => {
    const schedule = new Schedule(cron, zone);
    const expected: Micros[] = [];
    for (let at = schedule.next(micros(from))!; at <= micros(to); at = schedule.next(at)!) expected.push(at);

    const { fire } = schedule.plan(expected[0]!, micros(to), { upTo: 1000 });

    expect(fire.map(iso)).toEqual(expected.map(iso));
  });

  test('after a year of missed minutes walks through the latest only', () => {
    const schedule = new Schedule('* * * * *', 'Europe/Berlin');
    const cpu = process.cpuUsage();

    const { fire, next } = schedule.plan(micros(due), micros('2027-01-01T00:00Z'), { upTo: 1000 });

    expect([fire.length, iso(fire[999]!), iso(next!)]).toEqual([1000, ...instants(['2027-01-01T00:00Z', '2027-01-01T00:01Z'])]); // prettier-ignore
    expect(process.cpuUsage(cpu).user).toBeLessThan(10_000_000);
  });
});

function nexts(schedule: Schedule, after: string, count: number): string[] {
  const runs: Micros[] = [];
  for (let last = micros(after); runs.length < count; runs.push(last)) last = schedule.next(last)!;

  return runs.map(iso);
}

function micros(text: string): Micros {
  return microsOf(new Date(text));
}

function iso(at: Micros): string {
  return dateOf(at).toISOString();
}

function instants(texts: readonly string[]): string[] {
  return texts.map(text => new Date(text).toISOString());
}
