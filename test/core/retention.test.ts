import { expect, test } from '@jest/globals';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { resolveRetention, type Retention } from '../../src/core/retention.ts';

const day = 86_400_000;

test('by default succeeded and cancelled jobs are kept for 30 days, and dead letters for ever', () => {
  const defaults = { succeeded: 30 * day, cancelled: 30 * day, failed: null, interrupted: null };

  expect(resolveRetention()).toEqual(defaults);
  expect(resolveRetention({})).toEqual(defaults);
  expect(resolveRetention({ succeeded: undefined } as Retention)).toEqual(defaults);
  expect(Object.isFrozen(resolveRetention())).toBe(true);
});

test('each state has a time of its own, or is kept for ever', () => {
  expect(resolveRetention({ succeeded: false, cancelled: '1m', failed: '90d', interrupted: 365 * day })).toEqual({
    succeeded: null,
    cancelled: 60_000,
    failed: 90 * day,
    interrupted: 365 * day,
  });
});

test('without a retention everything is kept for ever', () => {
  expect(resolveRetention(false)).toEqual({ succeeded: null, cancelled: null, failed: null, interrupted: null });
});

test.each([
  ['retention', null],
  ['retention', '30d'],
  ['retention', true],
  ['retention.succeeded', { succeeded: 0 }],
  ['retention.succeeded', { succeeded: '59s' }],
  ['retention.cancelled', { cancelled: null }],
  ['retention.failed', { failed: true }],
  ['retention.failed', { failed: NaN }],
  ['retention.interrupted', { interrupted: 'for ever' }],
  ['retention.queued', { queued: '30d' }],
  ['retention.Failed', { Failed: '30d' }],
])('%s is refused as it is in %j', (option, retention) => {
  expect(() => resolveRetention(retention as never)).toThrow(InvalidOptionError);
  expect(() => resolveRetention(retention as never)).toThrow(expect.objectContaining({ option }));
});
