import { expect, test } from '@jest/globals';
import { durationMs, type Duration } from '../../src/core/duration.ts';
import { InvalidOptionError } from '../../src/core/errors.ts';

const hundredYearsMs = 36_525 * 86_400_000;

test.each<[Duration, number]>([
  [0, 0],
  [1500, 1500],
  [0.5, 0.5],
  ['0s', 0],
  ['250ms', 250],
  ['1.5s', 1500],
  ['30s', 30_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['36525d', hundredYearsMs],
  [hundredYearsMs, hundredYearsMs],
])('%p is %d ms', (duration, ms) => {
  expect(durationMs(duration, 'timeout')).toBe(ms);
});

test.each([
  -1,
  NaN,
  Infinity,
  hundredYearsMs + 1,
  '36525.1d',
  '-5s',
  '1e3ms',
  '.5s',
  '5',
  '5 s',
  ' 5s',
  '5s ',
  '5S',
  '30 parsecs',
  '',
  null,
  undefined,
  true,
  10n,
  [5],
  { ms: 5 },
  new Date(0),
  Object.create(null),
  Symbol('5s'),
])('%p is no duration, and the error names the option', duration => {
  const read = () => durationMs(duration as Duration, 'timeout');

  expect(read).toThrow(InvalidOptionError);
  expect(read).toThrow(
    /^Invalid option: expected `timeout` to be milliseconds or a number with a unit such as '30s', up/,
  );
});

test('more days than a number holds are no duration', () => {
  expect(() => durationMs(`${'9'.repeat(400)}d` as Duration, 'timeout')).toThrow(InvalidOptionError);
});
