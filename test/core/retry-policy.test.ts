import { expect, test } from '@jest/globals';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { resolveRetryPolicy, retryDelayMs, type RetryPolicy } from '../../src/core/retry-policy.ts';
import { aPolicy } from './builders.ts';

const middle = 0.5;
const tenMinutes = 600_000;

test('a policy that says nothing is exponential from 2 s, doubling, at most 10 min, with a jitter of 0.2', () => {
  const defaults = { baseMs: 2000, factor: 2, capMs: tenMinutes, jitter: 0.2, lifetimeMs: null };

  expect(resolveRetryPolicy()).toEqual(defaults);
  expect(resolveRetryPolicy({ base: undefined, factor: undefined, lifetime: undefined })).toEqual(defaults);
});

test('a resolved policy is frozen, and plain enough for JSON', () => {
  const policy = resolveRetryPolicy({ base: '1s', factor: 3, cap: '1h', jitter: 0, lifetime: '1d' });

  expect(Object.isFrozen(policy)).toBe(true);
  expect(JSON.parse(JSON.stringify(policy))).toEqual({
    baseMs: 1000, factor: 3, capMs: 3_600_000, jitter: 0, lifetimeMs: 86_400_000,
  }); // prettier-ignore
});

test('false stays false: never retried', () => {
  expect(resolveRetryPolicy(false)).toBe(false);
});

test.each([
  [0, 2000],
  [1, 2000],
  [2, 4000],
  [3, 8000],
  [9, 512_000],
  [10, tenMinutes],
  [30, tenMinutes],
  [64, tenMinutes],
  [1100, tenMinutes],
])('after %d failures the default delay is %d ms', (failures, expected) => {
  expect(retryDelayMs(aPolicy(), failures, middle)).toBe(expected);
});

test.each<[string, RetryPolicy]>([
  ['the defaults', {}],
  ['a base of 0', { base: 0 }],
  ['a base of 2^31 ms', { base: 2 ** 31, cap: '36525d' }],
  ['a base of a hundred years', { base: '36525d', cap: '36525d' }],
  ['no growth', { factor: 1 }],
  ['slow growth', { factor: 1.01, cap: '36525d' }],
  ['the fastest growth', { factor: Number.MAX_VALUE }],
  ['nothing but 0', { base: 0, cap: 0, jitter: 1 }],
  ['a fraction of a millisecond', { base: 0.1, factor: 1.5 }],
])('with %s every delay of 1,100 attempts is a whole number up to the cap, never below the one before', (_, given) => {
  const policy = aPolicy(given);
  const attempts = Array.from({ length: 1100 }, (_, index) => index + 1);
  const delaysWith = (random: number) => attempts.map(failures => retryDelayMs(policy, failures, random));
  const isSound = (delay: number) => Number.isInteger(delay) && delay >= 0 && delay <= policy.capMs;

  const delays = delaysWith(middle);
  expect(delays.filter((delay, index) => delay < (delays[index - 1] ?? 0))).toEqual([]);
  expect([0, 0.1, middle, 0.9, 1].flatMap(delaysWith).filter(delay => !isSound(delay))).toEqual([]);
});

test('jitter takes away or adds at most its share of the delay', () => {
  const policy = aPolicy({ base: '10s', jitter: 0.2 });

  expect(retryDelayMs(policy, 1, 0)).toBe(8000);
  expect(retryDelayMs(policy, 1, 0.25)).toBe(9000);
  expect(retryDelayMs(policy, 1, 0.5)).toBe(10_000);
  expect(retryDelayMs(policy, 1, 1)).toBe(12_000);
});

test('jitter adds nothing above the cap', () => {
  expect(retryDelayMs(aPolicy({ jitter: 1 }), 20, 1)).toBe(tenMinutes);
});

test('without jitter chance has no say', () => {
  const policy = aPolicy({ jitter: 0 });

  expect(new Set([0, 0.3, 1].map(random => retryDelayMs(policy, 4, random)))).toEqual(new Set([16_000]));
});

test.each<[string, unknown, string]>([
  ['a factor below 1', { factor: 0.99 }, 'retry.factor'],
  ['a factor that is no number', { factor: NaN }, 'retry.factor'],
  ['an endless factor', { factor: Infinity }, 'retry.factor'],
  ['a factor as text', { factor: '2' }, 'retry.factor'],
  ['a negative jitter', { jitter: -0.01 }, 'retry.jitter'],
  ['a jitter above 1', { jitter: 1.01 }, 'retry.jitter'],
  ['a jitter that is no number', { jitter: NaN }, 'retry.jitter'],
  ['a jitter as text', { jitter: '0.5' }, 'retry.jitter'],
  ['a jitter of null', { jitter: null }, 'retry.jitter'],
  ['a cap below the base', { base: '2s', cap: '1s' }, 'retry.cap'],
  ['a cap below the default base', { cap: '1s' }, 'retry.cap'],
  ['a base above the default cap', { base: '11m' }, 'retry.cap'],
  ['a negative base', { base: -1 }, 'retry.base'],
  ['a base in parsecs', { base: '1 parsec' }, 'retry.base'],
  ['a base of null', { base: null }, 'retry.base'],
  ['an endless cap', { cap: Infinity }, 'retry.cap'],
  ['a negative lifetime', { lifetime: -1 }, 'retry.lifetime'],
  ['a lifetime of null', { lifetime: null }, 'retry.lifetime'],
  ['a misspelt option', { jiter: 0.5 }, 'retry.jiter'],
  ['null', null, 'retry'],
  ['true', true, 'retry'],
  ['a number of attempts', 5, 'retry'],
  ['a duration', '5s', 'retry'],
])('%s is refused by name', (_, policy, option) => {
  const resolve = () => resolveRetryPolicy(policy as RetryPolicy);

  expect(resolve).toThrow(InvalidOptionError);
  expect(resolve).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', option }));
});
