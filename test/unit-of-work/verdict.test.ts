import { describe, expect, test } from '@jest/globals';
import { PermanentError, RetryAfterError, SnoozeError } from '../../src/core/handler-errors.ts';
import { resolveUnitOfWorkOptions, type UnitOfWorkOptions } from '../../src/unit-of-work/options.ts';
import { verdictFor } from '../../src/unit-of-work/verdict.ts';

const now = 1_000_000_000;
const inMs = (ms: number) => now + ms * 1000;
const verdict = (error: unknown, failuresBefore: number, options: UnitOfWorkOptions = {}, random = 0.5) =>
  verdictFor(error, failuresBefore, resolveUnitOfWorkOptions(options), now, random);

describe('a failure', () => {
  test.each([
    [0, 2000],
    [1, 4000],
    [4, 32_000],
    [9, 600_000],
  ])('after %d others is tried again after %d ms', (before, delay) => {
    expect(verdict(new Error('x'), before)).toEqual({ kind: 'failed', nextAttemptAt: inMs(delay) });
  });

  test.each([
    [9, 10, 'failed'],
    [10, 10, 'dead_lettered'],
    [0, 0, 'dead_lettered'],
    [0, 1, 'failed'],
    [1, 1, 'dead_lettered'],
  ])('after %d others is, with %d allowed, %s', (before, maxFailures, kind) => {
    expect(verdict(new Error('x'), before, { maxFailures }).kind).toBe(kind);
    expect(verdict(new RetryAfterError('1s'), before, { maxFailures }).kind).toBe(kind);
  });

  test('is spread by chance as the policy says', () => {
    const retry = { base: '10s', jitter: 0.5 } as const;

    expect(verdict(new Error('x'), 0, { retry }, 0)).toMatchObject({ nextAttemptAt: inMs(5000) });
    expect(verdict(new Error('x'), 0, { retry }, 0.999_999)).toMatchObject({ nextAttemptAt: inMs(15_000) });
  });

  test('that is permanent is the last one, whatever is allowed', () => {
    expect(verdict(new Error('x', { cause: new PermanentError('y') }), 0)).toEqual({ kind: 'dead_lettered' });
  });

  test('that says when is tried again then, an hour or the cap later at most', () => {
    expect(verdict(new RetryAfterError('90s'), 5)).toEqual({ kind: 'failed', nextAttemptAt: inMs(90_000) });
    expect(verdict(new RetryAfterError('3h'), 0)).toMatchObject({ nextAttemptAt: inMs(3_600_000) });
    expect(verdict(new RetryAfterError('3h'), 0, { retry: { cap: '2h' } })).toMatchObject({
      nextAttemptAt: inMs(7_200_000),
    });
  });

  test('that is a snooze is none, however many were before', () => {
    expect(verdict(new SnoozeError('1d'), 50)).toEqual({ kind: 'snoozed', nextAttemptAt: inMs(86_400_000) });
    expect(verdict(new SnoozeError(new Date('9999-01-01')), 0)).toEqual({
      kind: 'snoozed',
      nextAttemptAt: Date.UTC(2255, 0, 1) * 1000,
    });
  });
});

describe('an option', () => {
  test.each<[string, UnitOfWorkOptions]>([
    ['lease', { lease: 999 }],
    ['lease', { lease: '25d' }],
    ['maxFailures', { maxFailures: -1 }],
    ['maxFailures', { maxFailures: 1.5 }],
    ['busyWait', { busyWait: -1 }],
    ['busyCheckEvery', { busyCheckEvery: 0 }],
    ['retry', { retry: false as never }],
    ['retry.factor', { retry: { factor: 0.5 } }],
  ])('%s is checked: %j', (option, options) => {
    expect(() => resolveUnitOfWorkOptions(options)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', option }),
    );
  });

  test('has a default', () => {
    expect(resolveUnitOfWorkOptions()).toEqual({
      leaseMs: 60_000,
      maxFailures: 10,
      retry: { baseMs: 2000, factor: 2, capMs: 600_000, jitter: 0.2, lifetimeMs: null },
      busyWaitMs: 5000,
      busyCheckEveryMs: 1000,
    });
  });
});
