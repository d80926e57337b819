import { expect, test } from '@jest/globals';
import { CreationClock, systemClock } from '../../src/core/clock.ts';

const second = 1_000_000;

function clockAt(start: number) {
  const wall = { time: start, now: () => wall.time };
  return { wall, creation: new CreationClock(wall) };
}

test('the system clock is the wall time of the process in whole microseconds', () => {
  const before = Date.now() * 1000;
  const now = systemClock.now();

  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now() * 1000);
  expect(Number.isSafeInteger(now)).toBe(true);
});

test('the first creation time is the wall time, at the epoch too', () => {
  expect(clockAt(0).creation.next()).toBe(0);
  expect(clockAt(5 * second).creation.next()).toBe(5 * second);
});

test('creation times of one moment are strictly increasing, a microsecond apart', () => {
  const { creation } = clockAt(second);

  expect([creation.next(), creation.next(), creation.next()]).toEqual([second, second + 1, second + 2]);
});

test('creation times go with the wall time when it moves on', () => {
  const { wall, creation } = clockAt(second);
  creation.next();
  creation.next();

  wall.time = second + 1000;

  expect(creation.next()).toBe(second + 1000);
});

test('after a wall clock was set back by less than a second, creation times still increase', () => {
  const { wall, creation } = clockAt(10 * second);
  creation.next();

  wall.time -= second - 1;

  expect(creation.next()).toBe(10 * second + 1);
});

test('after a wall clock was set back by a second or more, creation times follow it', () => {
  const { wall, creation } = clockAt(10 * second);
  creation.next();

  wall.time -= second;

  expect(creation.next()).toBe(9 * second);
});

test('creation times never run more than a second ahead of the wall time', () => {
  const { wall, creation } = clockAt(second);
  let farthest = 0;

  for (let count = 0; count < 1_000_010; count++) {
    farthest = Math.max(farthest, creation.next() - wall.time);
  }

  expect(farthest).toBe(second);
});
