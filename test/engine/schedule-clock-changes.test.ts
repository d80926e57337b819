import { describe, expect, test } from '@jest/globals';
import { Schedule } from '../../src/core/schedule.ts';
import { dateOf, microsOf, type Micros } from '../../src/core/time.ts';
import { changesOf, occurrencesAround, type Change } from './support/wall-clock.ts';

/** Occurrences are written as the clock on the wall shows them, with the offset that holds then. */
type Row = [what: string, cron: string, zone: string, after: string, expected: string[]];

describe('a fixed time that the clock skips falls on the first instant after the gap', () => {
  comes([
    ['in the middle of the gap', '30 2 * * *', 'America/New_York', '2026-03-07T12:00-05:00', ['2026-03-08T03:00-04:00', '2026-03-09T02:30-04:00']],
    ['at its first minute', '0 2 * * *', 'America/New_York', '2026-03-07T12:00-05:00', ['2026-03-08T03:00-04:00', '2026-03-09T02:00-04:00']],
    ['in its last second', '59 59 2 * * *', 'America/New_York', '2026-03-07T12:00-05:00', ['2026-03-08T03:00-04:00', '2026-03-09T02:59:59-04:00']],
    ['in the last second before it: stays', '59 59 1 * * *', 'America/New_York', '2026-03-07T12:00-05:00', ['2026-03-08T01:59:59-05:00', '2026-03-09T01:59:59-04:00']],
    ['at its end: stays', '0 3 * * *', 'America/New_York', '2026-03-07T12:00-05:00', ['2026-03-08T03:00-04:00', '2026-03-09T03:00-04:00']],
    ['asked on the last instant before the gap', '30 2 * * *', 'Europe/Berlin', '2026-03-29T01:59:59.999+01:00', ['2026-03-29T03:00+02:00', '2026-03-30T02:30+02:00']],
    ['asked at the end of the gap', '30 2 * * *', 'Europe/Berlin', '2026-03-29T03:00+02:00', ['2026-03-30T02:30+02:00']],
    ['asked where it would have been an hour on', '30 2 * * *', 'Europe/Berlin', '2026-03-29T03:30+02:00', ['2026-03-30T02:30+02:00']],
    ['each of a list, once for all of them', '0,20,40 2 * * *', 'Europe/Berlin', '2026-03-28T12:00+01:00', ['2026-03-29T03:00+02:00', '2026-03-30T02:00+02:00', '2026-03-30T02:20+02:00', '2026-03-30T02:40+02:00']],
    ['one hour of a list', '30 2,14 * * *', 'Europe/Berlin', '2026-03-28T20:00+01:00', ['2026-03-29T03:00+02:00', '2026-03-29T14:30+02:00', '2026-03-30T02:30+02:00']],
    ['one hour of a range', '30 1-3 * * *', 'Europe/Berlin', '2026-03-28T20:00+01:00', ['2026-03-29T01:30+01:00', '2026-03-29T03:00+02:00', '2026-03-29T03:30+02:00', '2026-03-30T01:30+02:00']],
    ['on a time of its own: both are one', '0 2,3 * * *', 'Europe/Berlin', '2026-03-28T20:00+01:00', ['2026-03-29T03:00+02:00', '2026-03-30T02:00+02:00', '2026-03-30T03:00+02:00']],
    ['on that day of the week only', '15 2 * * SUN', 'Europe/Berlin', '2026-03-21T12:00+01:00', ['2026-03-22T02:15+01:00', '2026-03-29T03:00+02:00', '2026-04-05T02:15+02:00']],
    ['on that date once a year', '15 2 29 3 *', 'Europe/Berlin', '2025-01-01T00:00+01:00', ['2025-03-29T02:15+01:00', '2026-03-29T03:00+02:00', '2027-03-29T02:15+02:00']],
    ['on the last Sunday, each year', '30 2 * 3 SUNL', 'Europe/Berlin', '2026-01-01T00:00+01:00', ['2026-03-29T03:00+02:00', '2027-03-28T03:00+02:00', '2028-03-26T03:00+02:00']],
    ['on the last day of a month', '30 2 L 3 *', 'Europe/Berlin', '2024-01-01T00:00+01:00', ['2024-03-31T03:00+02:00', '2025-03-31T02:30+02:00']],
    ['in the southern spring', '30 2 * * *', 'Pacific/Auckland', '2026-09-26T12:00+12:00', ['2026-09-27T03:00+13:00', '2026-09-28T02:30+13:00']],
    ['where the gap is half an hour', '10 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00+10:30', ['2026-10-04T02:30+11:00', '2026-10-05T02:10+11:00']],
    ['after a gap of half an hour: stays', '30,45 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00+10:30', ['2026-10-04T02:30+11:00', '2026-10-04T02:45+11:00', '2026-10-05T02:30+11:00']],
    ['where the gap is two hours', '0 1,2,3 * * *', 'Antarctica/Troll', '2026-03-28T12:00+00:00', ['2026-03-29T03:00+02:00', '2026-03-30T01:00+02:00', '2026-03-30T02:00+02:00', '2026-03-30T03:00+02:00']],
    ['where it begins at a quarter to', '0 3 * * *', 'Pacific/Chatham', '2026-09-26T12:00+12:45', ['2026-09-27T03:45+13:45', '2026-09-28T03:00+13:45']],
    ['before one that begins at a quarter to: stays', '44 2 * * *', 'Pacific/Chatham', '2026-09-26T12:00+12:45', ['2026-09-27T02:44+12:45', '2026-09-28T02:44+13:45']],
    ['midnight (Sao Paulo)', '0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00-03:00', ['2018-11-04T01:00-02:00', '2018-11-05T00:00-02:00']],
    ['midnight (Beirut)', '0 0 * * *', 'Asia/Beirut', '2024-03-30T12:00+02:00', ['2024-03-31T01:00+03:00', '2024-04-01T00:00+03:00']],
    ['midnight (Cairo)', '0 0 * * *', 'Africa/Cairo', '2024-04-25T12:00+02:00', ['2024-04-26T01:00+03:00', '2024-04-27T00:00+03:00']],
    ['midnight (Havana)', '0 0 * * *', 'America/Havana', '2024-03-09T12:00-05:00', ['2024-03-10T01:00-04:00', '2024-03-11T00:00-04:00']],
    ['midnight of that day of the week', '0 0 * * 0', 'America/Havana', '2024-03-04T00:00-05:00', ['2024-03-10T01:00-04:00', '2024-03-17T00:00-04:00']],
    ['midnight of that date', '0 0 4 * *', 'America/Sao_Paulo', '2018-10-05T00:00-03:00', ['2018-11-04T01:00-02:00', '2018-12-04T00:00-02:00']],
    ['midnight of another date: stays', '0 0 3,5 11 *', 'America/Sao_Paulo', '2018-10-05T00:00-03:00', ['2018-11-03T00:00-03:00', '2018-11-05T00:00-02:00', '2019-11-03T00:00-03:00']],
    ['the last minute before such a midnight: stays', '59 23 * * *', 'Asia/Beirut', '2024-03-30T12:00+02:00', ['2024-03-30T23:59+02:00', '2024-03-31T23:59+03:00']],
    ['a minute past midnight', '30 0 * * *', 'America/St_Johns', '2011-03-12T12:00-03:30', ['2011-03-13T01:01-02:30', '2011-03-14T00:30-02:30']],
    ['midnight before such a minute: stays', '0 0 * * *', 'America/St_Johns', '2011-03-12T12:00-03:30', ['2011-03-13T00:00-03:30', '2011-03-14T00:00-02:30']],
    ['where a country moved its clock for good', '45 2 * * *', 'America/Caracas', '2016-04-30T12:00-04:30', ['2016-05-01T03:00-04:00', '2016-05-02T02:45-04:00']],
  ]); // prettier-ignore
});

describe('a fixed time that a gap takes along to the next day is left out', () => {
  comes([
    ['in the last hour of the day', '30 23 * * *', 'America/Nuuk', '2024-03-29T12:00-02:00', ['2024-03-29T23:30-02:00', '2024-03-31T23:30-01:00']],
    ['but not the midnight at the end of the gap', '0 0 * * *', 'America/Nuuk', '2024-03-30T12:00-02:00', ['2024-03-31T00:00-01:00', '2024-04-01T00:00-01:00']],
    ['on that day of the week', '30 23 * * 6', 'America/Nuuk', '2024-03-24T00:00-02:00', ['2024-04-06T23:30-01:00', '2024-04-13T23:30-01:00']],
    ['in the last half hour of the day', '45 23 * * *', 'Asia/Pyongyang', '2018-05-03T12:00+08:30', ['2018-05-03T23:45+08:30', '2018-05-05T23:45+09:00']],
    ['on a day that there never was', '0 12 * * *', 'Pacific/Apia', '2011-12-29T00:00-10:00', ['2011-12-29T12:00-10:00', '2011-12-31T12:00+14:00']],
    ['on that date alone', '0 12 30 * *', 'Pacific/Apia', '2011-11-01T00:00-10:00', ['2011-11-30T12:00-10:00', '2012-01-30T12:00+14:00']],
    ['on that day of the week alone', '0 0 * * FRI', 'Pacific/Apia', '2011-12-22T00:00-10:00', ['2011-12-23T00:00-10:00', '2012-01-06T00:00+14:00']],
    ['but not on the day after', '0 0 31 12 *', 'Pacific/Apia', '2011-12-01T00:00-10:00', ['2011-12-31T00:00+14:00', '2012-12-31T00:00+14:00']],
  ]); // prettier-ignore
});

describe('a fixed time in an hour that comes twice comes in its first pass only', () => {
  comes([
    ['in the middle', '30 1 * * *', 'America/New_York', '2026-10-31T12:00-04:00', ['2026-11-01T01:30-04:00', '2026-11-02T01:30-05:00']],
    ['at its first minute', '0 1 * * *', 'America/New_York', '2026-10-31T12:00-04:00', ['2026-11-01T01:00-04:00', '2026-11-02T01:00-05:00']],
    ['in its last second', '59 59 1 * * *', 'America/New_York', '2026-10-31T12:00-04:00', ['2026-11-01T01:59:59-04:00', '2026-11-02T01:59:59-05:00']],
    ['at its end: once anyway', '0 2 * * *', 'America/New_York', '2026-10-31T12:00-04:00', ['2026-11-01T02:00-05:00', '2026-11-02T02:00-05:00']],
    ['asked in the first pass, after it', '30 1 * * *', 'America/New_York', '2026-11-01T01:45-04:00', ['2026-11-02T01:30-05:00']],
    ['asked at the beginning of the second pass', '30 1 * * *', 'America/New_York', '2026-11-01T01:00-05:00', ['2026-11-02T01:30-05:00']],
    ['asked in the second pass, before its time', '30 1 * * *', 'America/New_York', '2026-11-01T01:29:59.999-05:00', ['2026-11-02T01:30-05:00']],
    ['asked in the second pass, on its time', '30 1 * * *', 'America/New_York', '2026-11-01T01:30-05:00', ['2026-11-02T01:30-05:00']],
    ['each of a list', '0,20,40 2 * * *', 'Europe/Berlin', '2026-10-25T00:00+02:00', ['2026-10-25T02:00+02:00', '2026-10-25T02:20+02:00', '2026-10-25T02:40+02:00', '2026-10-26T02:00+01:00']],
    ['one hour of a list', '30 2,14 * * *', 'Europe/Berlin', '2026-10-25T00:00+02:00', ['2026-10-25T02:30+02:00', '2026-10-25T14:30+01:00', '2026-10-26T02:30+01:00']],
    ['one hour of a list, asked in the second pass', '30 2,14 * * *', 'Europe/Berlin', '2026-10-25T02:10+01:00', ['2026-10-25T14:30+01:00', '2026-10-26T02:30+01:00']],
    ['one hour of a range', '15 1-3 * * *', 'Europe/Berlin', '2026-10-25T00:00+02:00', ['2026-10-25T01:15+02:00', '2026-10-25T02:15+02:00', '2026-10-25T03:15+01:00', '2026-10-26T01:15+01:00']],
    ['each of some seconds', '0,30 30 2 * * *', 'Europe/Berlin', '2026-10-25T00:00+02:00', ['2026-10-25T02:30+02:00', '2026-10-25T02:30:30+02:00', '2026-10-26T02:30+01:00']],
    ['on that day of the week', '30 2 * * SUN', 'Europe/Berlin', '2026-10-19T12:00+02:00', ['2026-10-25T02:30+02:00', '2026-11-01T02:30+01:00']],
    ['on the last day of a month', '30 2 L 10 *', 'Europe/Berlin', '2021-01-01T00:00+01:00', ['2021-10-31T02:30+02:00', '2022-10-31T02:30+01:00']],
    ['in the southern autumn', '30 2 * * *', 'Pacific/Auckland', '2026-04-04T12:00+13:00', ['2026-04-05T02:30+13:00', '2026-04-06T02:30+12:00']],
    ['where only half an hour comes twice', '45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00+11:00', ['2026-04-05T01:45+11:00', '2026-04-06T01:45+10:30']],
    ['before such a half hour: once anyway', '15 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00+11:00', ['2026-04-05T01:15+11:00', '2026-04-06T01:15+10:30']],
    ['where two hours come twice', '0 1,2,3 * * *', 'Antarctica/Troll', '2026-10-24T12:00+02:00', ['2026-10-25T01:00+02:00', '2026-10-25T02:00+02:00', '2026-10-25T03:00+00:00', '2026-10-26T01:00+00:00']],
    ['where it begins at a quarter to', '0 3 * * *', 'Pacific/Chatham', '2026-04-04T12:00+13:45', ['2026-04-05T03:00+13:45', '2026-04-06T03:00+12:45']],
    ['midnight itself (Havana)', '0 0 * * *', 'America/Havana', '2024-11-02T12:00-04:00', ['2024-11-03T00:00-04:00', '2024-11-04T00:00-05:00']],
    ['before midnight (Sao Paulo)', '30 23 * * *', 'America/Sao_Paulo', '2018-02-17T12:00-02:00', ['2018-02-17T23:30-02:00', '2018-02-18T23:30-03:00']],
    ['before midnight, asked in the second pass', '30 23 * * *', 'America/Sao_Paulo', '2018-02-17T23:00-03:00', ['2018-02-18T23:30-03:00']],
    ['before midnight (Beirut)', '0 23 * * *', 'Asia/Beirut', '2024-10-26T12:00+03:00', ['2024-10-26T23:00+03:00', '2024-10-27T23:00+02:00']],
    ['before midnight (Cairo)', '59 23 * * 4', 'Africa/Cairo', '2024-10-31T12:00+03:00', ['2024-10-31T23:59+03:00', '2024-11-07T23:59+02:00']],
    ['before midnight (Nuuk)', '30 23 * * *', 'America/Nuuk', '2024-10-26T12:00-01:00', ['2024-10-26T23:30-01:00', '2024-10-27T23:30-02:00']],
    ['the midnight after such an hour: once anyway', '0 0 * * *', 'America/Sao_Paulo', '2018-02-17T12:00-02:00', ['2018-02-18T00:00-03:00', '2018-02-19T00:00-03:00']],
    ['where it ends a minute past midnight', '0 0 * * *', 'America/St_Johns', '2010-11-06T12:00-02:30', ['2010-11-07T00:00-02:30', '2010-11-08T00:00-03:30']],
    ['where a country moved its clock for good', '45 23 * * *', 'Asia/Pyongyang', '2015-08-14T12:00+09:00', ['2015-08-14T23:45+09:00', '2015-08-15T23:45+08:30']],
  ]); // prettier-ignore
});

describe('a pattern with * or steps leaves out what the clock skips', () => {
  comes([
    ['each minute', '* * * * *', 'America/New_York', '2026-03-08T01:58-05:00', ['2026-03-08T01:59-05:00', '2026-03-08T03:00-04:00', '2026-03-08T03:01-04:00']],
    ['each second', '* * * * * *', 'America/New_York', '2026-03-08T01:59:58-05:00', ['2026-03-08T01:59:59-05:00', '2026-03-08T03:00-04:00', '2026-03-08T03:00:01-04:00']],
    ['every twenty seconds', '*/20 * * * * *', 'Europe/Berlin', '2026-03-29T01:59:30+01:00', ['2026-03-29T01:59:40+01:00', '2026-03-29T03:00+02:00', '2026-03-29T03:00:20+02:00']],
    ['every seven minutes', '*/7 * * * *', 'Europe/Berlin', '2026-03-29T01:49+01:00', ['2026-03-29T01:56+01:00', '2026-03-29T03:00+02:00', '2026-03-29T03:07+02:00']],
    ['each hour', '0 * * * *', 'Europe/Berlin', '2026-03-29T00:30+01:00', ['2026-03-29T01:00+01:00', '2026-03-29T03:00+02:00', '2026-03-29T04:00+02:00']],
    ['each half past', '30 * * * *', 'Europe/Berlin', '2026-03-29T00:30+01:00', ['2026-03-29T01:30+01:00', '2026-03-29T03:30+02:00']],
    ['every other hour', '0 */2 * * *', 'Europe/Berlin', '2026-03-28T23:00+01:00', ['2026-03-29T00:00+01:00', '2026-03-29T04:00+02:00', '2026-03-29T06:00+02:00']],
    ['every other hour, by odd ones', '0 1-23/2 * * *', 'Europe/Berlin', '2026-03-28T23:30+01:00', ['2026-03-29T01:00+01:00', '2026-03-29T03:00+02:00', '2026-03-29T05:00+02:00']],
    ['a range with steps across the gap', '20-50/15 1-3 * * *', 'Europe/Berlin', '2026-03-29T01:30+01:00', ['2026-03-29T01:35+01:00', '2026-03-29T01:50+01:00', '2026-03-29T03:20+02:00', '2026-03-29T03:35+02:00', '2026-03-29T03:50+02:00', '2026-03-30T01:20+02:00']],
    ['steps within the skipped hour alone', '*/20 2 * * *', 'America/New_York', '2026-03-07T12:00-05:00', ['2026-03-09T02:00-04:00', '2026-03-09T02:20-04:00', '2026-03-09T02:40-04:00', '2026-03-10T02:00-04:00']],
    ['each second of a skipped minute', '* 30 2 * * *', 'America/New_York', '2026-03-07T12:00-05:00', ['2026-03-09T02:30-04:00', '2026-03-09T02:30:01-04:00']],
    ['half an hour', '*/10 * * * *', 'Australia/Lord_Howe', '2026-10-04T01:45+10:30', ['2026-10-04T01:50+10:30', '2026-10-04T02:30+11:00', '2026-10-04T02:40+11:00']],
    ['each hour at its full, where half of it is gone', '0 * * * *', 'Australia/Lord_Howe', '2026-10-04T00:30+10:30', ['2026-10-04T01:00+10:30', '2026-10-04T03:00+11:00']],
    ['a gap from a quarter to', '*/15 * * * *', 'Pacific/Chatham', '2026-09-27T02:15+12:45', ['2026-09-27T02:30+12:45', '2026-09-27T03:45+13:45', '2026-09-27T04:00+13:45']],
    ['midnight, each hour', '0 * * * *', 'Africa/Cairo', '2024-04-25T22:30+02:00', ['2024-04-25T23:00+02:00', '2024-04-26T01:00+03:00', '2024-04-26T02:00+03:00']],
    ['midnight, by steps', '0 */6 * * *', 'Asia/Beirut', '2024-03-30T12:30+02:00', ['2024-03-30T18:00+02:00', '2024-03-31T06:00+03:00', '2024-03-31T12:00+03:00']],
    ['a whole day', '0 */8 * * *', 'Pacific/Apia', '2011-12-29T12:00-10:00', ['2011-12-29T16:00-10:00', '2011-12-31T00:00+14:00', '2011-12-31T08:00+14:00']],
    ['the minutes of a day that there never was', '* * 30 12 *', 'Pacific/Apia', '2011-12-01T00:00-10:00', ['2012-12-30T00:00+14:00', '2012-12-30T00:01+14:00']],
  ]); // prettier-ignore
});

describe('a pattern with * or steps comes in both passes of an hour that comes twice', () => {
  comes([
    ['each minute', '* * * * *', 'America/New_York', '2026-11-01T01:58-04:00', ['2026-11-01T01:59-04:00', '2026-11-01T01:00-05:00', '2026-11-01T01:01-05:00']],
    ['each minute, out of the second pass', '* * * * *', 'America/New_York', '2026-11-01T01:58-05:00', ['2026-11-01T01:59-05:00', '2026-11-01T02:00-05:00']],
    ['each second', '* * * * * *', 'Europe/Berlin', '2026-10-25T02:59:58+02:00', ['2026-10-25T02:59:59+02:00', '2026-10-25T02:00+01:00', '2026-10-25T02:00:01+01:00']],
    ['every twenty seconds', '*/20 * * * * *', 'Europe/Berlin', '2026-10-25T02:59:30+02:00', ['2026-10-25T02:59:40+02:00', '2026-10-25T02:00+01:00', '2026-10-25T02:00:20+01:00']],
    ['every seven minutes', '*/7 * * * *', 'Europe/Berlin', '2026-10-25T02:49+02:00', ['2026-10-25T02:56+02:00', '2026-10-25T02:00+01:00', '2026-10-25T02:07+01:00']],
    ['each hour', '0 * * * *', 'Europe/Berlin', '2026-10-25T00:30+02:00', ['2026-10-25T01:00+02:00', '2026-10-25T02:00+02:00', '2026-10-25T02:00+01:00', '2026-10-25T03:00+01:00']],
    ['every other hour', '0 */2 * * *', 'Europe/Berlin', '2026-10-24T23:00+02:00', ['2026-10-25T00:00+02:00', '2026-10-25T02:00+02:00', '2026-10-25T02:00+01:00', '2026-10-25T04:00+01:00']],
    ['every other hour, by odd ones', '0 1-23/2 * * *', 'Europe/Berlin', '2026-10-24T23:30+02:00', ['2026-10-25T01:00+02:00', '2026-10-25T03:00+01:00']],
    ['steps within that hour alone', '*/20 2 * * *', 'Europe/Berlin', '2026-10-25T02:10+02:00', ['2026-10-25T02:20+02:00', '2026-10-25T02:40+02:00', '2026-10-25T02:00+01:00', '2026-10-25T02:20+01:00', '2026-10-25T02:40+01:00', '2026-10-26T02:00+01:00']],
    ['steps of seconds of one minute', '*/30 30 2 * * *', 'Europe/Berlin', '2026-10-25T00:00+02:00', ['2026-10-25T02:30+02:00', '2026-10-25T02:30:30+02:00', '2026-10-25T02:30+01:00', '2026-10-25T02:30:30+01:00', '2026-10-26T02:30+01:00']],
    ['in the southern autumn', '*/30 * * * *', 'Pacific/Auckland', '2026-04-05T02:00+13:00', ['2026-04-05T02:30+13:00', '2026-04-05T02:00+12:00', '2026-04-05T02:30+12:00', '2026-04-05T03:00+12:00']],
    ['half an hour', '*/10 * * * *', 'Australia/Lord_Howe', '2026-04-05T01:45+11:00', ['2026-04-05T01:50+11:00', '2026-04-05T01:30+10:30', '2026-04-05T01:40+10:30', '2026-04-05T01:50+10:30', '2026-04-05T02:00+10:30']],
    ['each hour at its full, where half of it comes twice', '0 * * * *', 'Australia/Lord_Howe', '2026-04-05T00:30+11:00', ['2026-04-05T01:00+11:00', '2026-04-05T02:00+10:30']],
    ['an hour from a quarter to', '*/30 * * * *', 'Pacific/Chatham', '2026-04-05T03:00+13:45', ['2026-04-05T03:30+13:45', '2026-04-05T03:00+12:45', '2026-04-05T03:30+12:45', '2026-04-05T04:00+12:45']],
    ['two hours', '0 * * * *', 'Antarctica/Troll', '2026-10-25T01:30+02:00', ['2026-10-25T02:00+02:00', '2026-10-25T01:00+00:00', '2026-10-25T02:00+00:00', '2026-10-25T03:00+00:00']],
    ['midnight', '0 * * * *', 'America/Havana', '2024-11-02T23:30-04:00', ['2024-11-03T00:00-04:00', '2024-11-03T00:00-05:00', '2024-11-03T01:00-05:00']],
    ['the hour before midnight', '30 * * * *', 'America/Sao_Paulo', '2018-02-17T22:30-02:00', ['2018-02-17T23:30-02:00', '2018-02-17T23:30-03:00', '2018-02-18T00:30-03:00']],
    ['an hour that reaches past midnight and back', '*/30 * * * *', 'America/St_Johns', '2010-11-06T23:15-02:30', ['2010-11-06T23:30-02:30', '2010-11-07T00:00-02:30', '2010-11-06T23:30-03:30', '2010-11-07T00:00-03:30', '2010-11-07T00:30-03:30']],
    ['on that day of the week alone', '*/30 23 * * 6', 'Asia/Beirut', '2024-10-26T12:00+03:00', ['2024-10-26T23:00+03:00', '2024-10-26T23:30+03:00', '2024-10-26T23:00+02:00', '2024-10-26T23:30+02:00', '2024-11-02T23:00+02:00']],
  ]); // prettier-ignore
});

describe('dates go on through a clock change', () => {
  comes([
    ['the 1st or a Sunday', '0 3 1 * SUN', 'America/New_York', '2026-10-30T00:00-04:00', ['2026-11-01T03:00-05:00', '2026-11-08T03:00-05:00']],
    ['the 29th or a Monday', '0 3 29 * MON', 'Europe/Berlin', '2026-03-24T00:00+01:00', ['2026-03-29T03:00+02:00', '2026-03-30T03:00+02:00', '2026-04-06T03:00+02:00']],
    ['every tenth day or a Sunday', '30 2 */10 * SUN', 'Europe/Berlin', '2026-03-28T00:00+01:00', ['2026-03-29T03:00+02:00', '2026-03-31T02:30+02:00', '2026-04-01T02:30+02:00', '2026-04-05T02:30+02:00']],
    ['the last day of each month', '0 0 L * *', 'Europe/Berlin', '2028-01-31T12:00+01:00', ['2028-02-29T00:00+01:00', '2028-03-31T00:00+02:00', '2028-04-30T00:00+02:00']],
    ['the 15th and the last day', '0 0 15,L * *', 'Europe/Berlin', '2026-10-01T00:00+02:00', ['2026-10-15T00:00+02:00', '2026-10-31T00:00+01:00', '2026-11-15T00:00+01:00', '2026-11-30T00:00+01:00']],
    ['the second Sunday, when New York changes', '30 2 * 3 SUN#2', 'America/New_York', '2026-01-01T00:00-05:00', ['2026-03-08T03:00-04:00', '2027-03-14T03:00-04:00']],
    ['the 31st of the months that have one', '0 0 31 * *', 'Europe/Berlin', '2026-01-31T12:00+01:00', ['2026-03-31T00:00+02:00', '2026-05-31T00:00+02:00', '2026-07-31T00:00+02:00', '2026-08-31T00:00+02:00', '2026-10-31T00:00+01:00']],
    ['the end of a month and the next one’s start', '0,30 0,23 1,31 3,4 *', 'Asia/Beirut', '2024-03-30T12:00+02:00', ['2024-03-31T01:00+03:00', '2024-03-31T23:00+03:00', '2024-03-31T23:30+03:00', '2024-04-01T00:00+03:00', '2024-04-01T00:30+03:00']],
    ['leap days', '30 2 29 2 *', 'Europe/Berlin', '2026-01-01T00:00+01:00', ['2028-02-29T02:30+01:00', '2032-02-29T02:30+01:00']],
    ['the day before and after a leap day', '0 0 28,29 2 *', 'Pacific/Auckland', '2027-02-01T00:00+13:00', ['2027-02-28T00:00+13:00', '2028-02-28T00:00+13:00', '2028-02-29T00:00+13:00', '2029-02-28T00:00+13:00']],
    ['over the end of a year', '59 59 23 31 12 *', 'Pacific/Auckland', '2026-06-01T00:00+12:00', ['2026-12-31T23:59:59+13:00', '2027-12-31T23:59:59+13:00']],
    ['each minute over the end of a year', '* * * * *', 'Asia/Kathmandu', '2026-12-31T23:58+05:45', ['2026-12-31T23:59+05:45', '2027-01-01T00:00+05:45', '2027-01-01T00:01+05:45']],
    ['working days around a Sunday', '0 8 * * 1-5', 'America/New_York', '2026-03-06T12:00-05:00', ['2026-03-09T08:00-04:00', '2026-03-10T08:00-04:00']],
    ['each quarter of a year', '0 0 1 */3 *', 'Africa/Cairo', '2024-03-01T00:00+02:00', ['2024-04-01T00:00+02:00', '2024-07-01T00:00+03:00', '2024-10-01T00:00+03:00', '2025-01-01T00:00+02:00']],
    ['a zone three quarters of an hour off', '0 0 * * *', 'Asia/Kathmandu', '2026-03-28T12:00+05:45', ['2026-03-29T00:00+05:45', '2026-03-30T00:00+05:45']],
    ['a zone that gave its changes up', '0 0 * * *', 'America/Sao_Paulo', '2026-10-31T12:00-03:00', ['2026-11-01T00:00-03:00', '2026-11-02T00:00-03:00']],
    ['UTC, which never changes', '30 2 * * *', 'UTC', '2026-03-28T12:00Z', ['2026-03-29T02:30Z', '2026-03-30T02:30Z']],
  ]); // prettier-ignore
});

test.each([
  ['0 0 30,31 2 *', 'Pacific/Apia'],
  ['30 2 31 4,6,9,11 *', 'Europe/Berlin'],
  ['*/30 2 * 3 SUNL', 'Europe/Berlin'],
])('%s in %s never comes and is refused', (cron, zone) => {
  expect(() => new Schedule(cron, zone)).toThrow(/`cron`.*never/);
});

describe('around every change of the clock from 2010 to 2035', () => {
  const zones = [
    'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Chatham', 'America/Sao_Paulo', 'Asia/Beirut', 'America/Havana',
    'America/Nuuk', 'America/St_Johns', 'Africa/Casablanca', 'Antarctica/Troll', 'Pacific/Apia',
  ]; // prettier-ignore
  const patterns = ['30 2 * * *', '0 0 * * *', '15 0-3,23 * * *', '0 * * * *', '*/20 1-2 * * *', '45 23 * * 6'];

  test.each(zones)('comes what the rules say, listed or asked again from each one, in %s', zone => {
    const changes = changesOf(zone, 2010, 2035);
    expect(changes.length).toBeGreaterThan(0);

    for (const cron of patterns) expectAround(changes, cron, zone);
  });

  test.each([
    ['UTC', 0],
    ['Asia/Kathmandu', 345],
  ])('there is none in %s, where years and leap days end like any other day', (zone, offset) => {
    expect(changesOf(zone, 2010, 2035)).toEqual([]);

    for (let year = 2010; year <= 2035; year++) {
      const midnights = [Date.UTC(year, 0, 1), Date.UTC(year, 2, 1)].map(wall => wall - offset * 60_000);
      const none = midnights.map(at => ({ at, before: offset * 60_000, after: offset * 60_000 }));
      for (const cron of ['15 0-3,23 * * *', '*/20 * 1 * *']) expectAround(none, cron, zone);
    }
  });
});

function comes(rows: readonly Row[]): void {
  test.each(rows)('%s: %s in %s', (_, cron, zone, after, expected) => {
    expectOccurrences(cron, zone, after, expected);
  });
}

/** Listed, asked one by one from the last one, from instants between, and made up for afterwards: always the same. */
function expectOccurrences(cron: string, zone: string, after: string, texts: readonly string[]): void {
  const schedule = new Schedule(cron, zone);
  const expected = texts.map(text => new Date(text).toISOString());
  const instants = texts.map(micros);
  const [first, last] = [instants[0]!, instants.at(-1)!];

  expect(schedule.occurrences(micros(after), texts.length).map(iso)).toEqual(expected);
  expect(asked(schedule, micros(after), last)).toEqual(expected);
  expect(schedule.plan(first, last, { upTo: 1000 }).fire.map(iso)).toEqual(expected);

  [micros(after), ...instants].slice(0, -1).forEach((previous, index) => {
    const between = [previous + 1, previous + Math.floor((instants[index]! - previous) / 2), instants[index]! - 1];
    expect(between.map(instant => iso(schedule.next(instant)!))).toEqual(between.map(() => expected[index]));
  });
}

/** What comes within three hours of each change is what an independent reading of the clock says. */
function expectAround(changes: readonly Change[], cron: string, zone: string): void {
  const schedule = new Schedule(cron, zone);
  const reach = 3 * 3600_000;

  for (const change of changes) {
    const [from, to] = [change.at - reach, change.at + reach];
    const runs = occurrencesAround(change, cron, from, to).map(at => new Date(at).toISOString());

    expect({ cron, runs: asked(schedule, micros(from), micros(to)) }).toEqual({ cron, runs });
    expect({ cron, runs: schedule.occurrences(micros(from), runs.length).map(iso) }).toEqual({ cron, runs });
  }
}

function asked(schedule: Schedule, after: Micros, until: Micros): string[] {
  const runs: Micros[] = [];
  for (let at = schedule.next(after)!; at <= until; at = schedule.next(at)!) {
    if (at <= (runs.at(-1) ?? after)) throw new Error(`${iso(at)} came again`);
    runs.push(at);
  }

  return runs.map(iso);
}

function micros(at: string | number): Micros {
  return microsOf(new Date(at));
}

function iso(at: Micros): string {
  return dateOf(at).toISOString();
}
