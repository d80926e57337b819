import { describe, expect, test } from '@jest/globals';
import { differencesBetween, type RequestFields } from '../../src/core/same-request.ts';

const stored: RequestFields = {
  name: 'mail.send', version: '1', payload: '{"a":1,"b":2}', queue: 'default', maxAttempts: 10, notBefore: new Date(5),
}; // prettier-ignore

test('a request that says the same in all six fields is the same one', () => {
  expect(differencesBetween(stored, { ...stored, notBefore: new Date(5) })).toEqual([]);
  expect(differencesBetween({ ...stored, notBefore: null }, { ...stored, notBefore: null })).toEqual([]);
});

test('priority, labels, unique key, timeout and the like are not compared', () => {
  const submitted = { ...stored, priority: 5, metadata: { by: 'ann' }, uniqueKey: 'x', timeoutMs: 5, onInterrupt: 'requeue' };

  expect(differencesBetween(stored, submitted)).toEqual([]);
}); // prettier-ignore

describe('a difference in one field makes a different request', () => {
  test.each<[keyof RequestFields, Partial<RequestFields>]>([
    ['name', { name: 'mail.Send' }],
    ['version', { version: '2' }],
    ['version', { version: '1 ' }],
    ['queue', { queue: 'Default' }],
    ['maxAttempts', { maxAttempts: 9 }],
    ['notBefore', { notBefore: new Date(6) }],
    ['notBefore', { notBefore: null }],
  ])('%s: %j', (field, different) => {
    const submitted = { ...stored, ...different };

    expect(differencesBetween(stored, submitted)).toEqual([
      { field, stored: stored[field], submitted: submitted[field] },
    ]);
  });

  test.each(['{"b":2,"a":1}', '{"a":1, "b":2}', '{"a":1,"b":2} ', '{"a":1.0,"b":2}', '{"a":1,"b":2,"a":1}'])(
    'payload, whatever JSON would say: %s',
    payload => {
      // its values are never shown
      expect(differencesBetween(stored, { ...stored, payload })).toEqual([{ field: 'payload' }]);
    },
  );

  test('a not-before of the creation time is another than none', () => {
    expect(differencesBetween({ ...stored, notBefore: null }, stored)).toEqual([
      { field: 'notBefore', stored: null, submitted: new Date(5) },
    ]);
  });
});

test('each difference is named', () => {
  const different = { name: 'x', version: 'x', payload: 'x', queue: 'x', maxAttempts: 1, notBefore: null };

  expect(differencesBetween(stored, different).map(({ field }) => field)).toEqual([
    'name', 'version', 'queue', 'maxAttempts', 'payload', 'notBefore',
  ]); // prettier-ignore
});
