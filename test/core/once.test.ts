import { describe, expect, test } from '@jest/globals';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { ResultInvalidError } from '../../src/core/handler-errors.ts';
import { resolveOnce, storedValue, valueText, waitForKeyMs } from '../../src/core/once.ts';

const work = async () => {};
const ttl = '1h' as const;

describe('what job.once is given', () => {
  test('is a key, how long a result is kept, and work; a claim holds for a day unless said otherwise', () => {
    expect(resolveOnce('k', { ttl }, work)).toEqual({ ttlMs: 3_600_000, claimTtlMs: 86_400_000 });
    expect(resolveOnce('k', { ttl: 1, claimTtl: '5m' }, work)).toEqual({ ttlMs: 1, claimTtlMs: 300_000 });
  });

  test.each(['x'.repeat(255), ' ', '🦊', 'a\nb'])('may be the key %j', key => {
    expect(() => resolveOnce(key, { ttl }, work)).not.toThrow();
  });

  test.each([
    ['key', '', { ttl }, work],
    ['key', 'x'.repeat(256), { ttl }, work],
    ['key', 'a\u0000', { ttl }, work],
    ['key', '\ud800', { ttl }, work],
    ['key', undefined, { ttl }, work],
    ['key', 5, { ttl }, work],
    ['options', 'k', undefined, work],
    ['options', 'k', '1h', work],
    ['ttl', 'k', {}, work],
    ['ttl', 'k', { ttl: 0 }, work],
    ['ttl', 'k', { ttl: 0.9 }, work],
    ['ttl', 'k', { ttl: -1 }, work],
    ['ttl', 'k', { ttl: NaN }, work],
    ['ttl', 'k', { ttl: '36526d' }, work],
    ['ttl', 'k', { ttl: 'soon' }, work],
    ['claimTtl', 'k', { ttl, claimTtl: 0 }, work],
    ['claimTtl', 'k', { ttl, claimTtl: null }, work],
    ['tll', 'k', { ttl, tll: '1h' }, work],
    ['work', 'k', { ttl }, undefined],
    ['work', 'k', { ttl }, Promise.resolve()],
  ])('is refused with the name %s (%#)', (option, key, options, given) => {
    const resolve = () => resolveOnce(key, options as never, given);

    expect(resolve).toThrow(InvalidOptionError);
    expect(resolve).toThrow(expect.objectContaining({ option }));
  });
});

describe('what the work gave', () => {
  test.each([
    [undefined, undefined],
    [null, null],
    ['text', 'text'],
    [0, 0],
    [{ at: new Date(0), gone: undefined }, { at: '1970-01-01T00:00:00.000Z' }],
    ['\u0000\ud800', '\u0000\ud800'],
  ])('is stored as JSON and comes back as that (%#)', (value, expected) => {
    const text = valueText('k', value);

    expect(text?.isWellFormed() ?? true).toBe(true);
    expect(text ?? '').not.toContain('\u0000');
    expect(storedValue(text)).toEqual(expected);
  });

  const circle: Record<string, unknown> = {};
  circle.self = circle;

  test.each([[1n], [circle], [() => {}], [Symbol('x')], [{ cents: NaN }], [{ toJSON: () => { throw new Error('x'); } }]])(
    'is refused where it is no JSON (%#)',
    value => {
      expect(() => valueText('k', value)).toThrow(ResultInvalidError);
    },
  ); // prettier-ignore

  test('may have a million bytes of JSON, and no more', () => {
    expect(valueText('k', 'ä'.repeat(499_999))).toHaveLength(500_001);
    expect(() => valueText('k', 'ä'.repeat(499_999) + 'x')).toThrow(ResultInvalidError);
  });
});

test('a job comes back for a result after 2 s, then after twice as long with each start, at last each minute', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 1_000_000].map(waitForKeyMs)).toEqual([
    2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000,
  ]);
});
