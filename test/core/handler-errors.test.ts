import { describe, expect, test } from '@jest/globals';
import type { Duration } from '../../src/core/duration.ts';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { PermanentError, RetryAfterError, SnoozeError } from '../../src/core/handler-errors.ts';

const bad = [-1, NaN, 'soon', null, undefined, new Date(NaN), { ms: 5 }];

test('what a handler threw is kept as the cause', () => {
  const cause = new Error('HTTP 429');

  expect(new PermanentError('declined', { cause }).cause).toBe(cause);
  expect(new RetryAfterError('1m', 'busy', { cause }).cause).toBe(cause);
});

test('a class of the host that extends one has its own name', () => {
  class CardDeclinedError extends PermanentError {}

  expect(new CardDeclinedError('declined')).toMatchObject({ name: 'CardDeclinedError', code: 'PERMANENT' });
});

describe('a delay is checked where it is thrown', () => {
  test.each(bad)('RetryAfterError refuses %p', after => {
    expect(() => new RetryAfterError(after as Duration)).toThrow(InvalidOptionError);
    expect(() => new RetryAfterError(after as Duration)).toThrow(expect.objectContaining({ option: 'after' }));
  });

  test.each(bad)('SnoozeError refuses %p', delay => {
    expect(() => new SnoozeError(delay as Duration)).toThrow(InvalidOptionError);
    expect(() => new SnoozeError(delay as Duration)).toThrow(expect.objectContaining({ option: 'delay' }));
  });

  test('an instant is kept as it is now', () => {
    const instant = new Date(5);
    const [retry, snooze] = [new RetryAfterError(instant), new SnoozeError(instant)];

    instant.setTime(0);

    expect([retry.after, snooze.delay]).toEqual([new Date(5), new Date(5)]);
  });
});
