import { expect, test } from '@jest/globals';
import { dateOf, latestInstant, microsOf, microsOfMs } from '../../src/core/time.ts';

test('every instant that is taken is a safe integer of microseconds', () => {
  expect(Number.isSafeInteger(latestInstant)).toBe(true);
  expect(dateOf(latestInstant)).toEqual(new Date('2255-01-01T00:00:00Z'));
});

test('a Date survives the way there and back', () => {
  const instant = new Date('2026-11-30T12:34:56.789Z');

  expect(microsOf(instant)).toBe(1_796_042_096_789_000);
  expect(dateOf(microsOf(instant))).toEqual(instant);
});

test('a Date shows the millisecond that an instant lies in', () => {
  expect(dateOf(1_999)).toEqual(new Date(1));
});

test('milliseconds become whole microseconds', () => {
  expect(microsOfMs(1.0006)).toBe(1001);
  expect(microsOfMs(0.1 + 0.2)).toBe(300);
});
