import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { InvalidSubmissionError } from '../../src/core/errors.ts';
import { scopeHash, uniqueHash } from '../../src/core/scope.ts';

// Made once with `printf '%s' … | sha256sum`: a change here would orphan every stored job.
test.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['租户-1', 'be5fcce123be7e44e901237ea8a008d2447106b5339bec8ec0a96a1d93000f7f'],
])('the hash of scope %j is the SHA-256 of its UTF-8 bytes, in lower-case hex', (scope, expected) => {
  expect(scopeHash(scope)).toBe(expected);
  expect(scopeHash(scope)).toBe(createHash('sha256').update(Buffer.from(scope)).digest('hex'));
});

test.each([
  ['cases', 'Owner', 'owner'],
  ['composed and decomposed characters', '\u00e9', 'e\u0301'],
  ['a trailing space', 'acme', 'acme '],
  ['a leading space', 'acme', ' acme'],
  ['ß and ss', 'ß', 'ss'],
  ['dotless i', 'i', 'ı'],
  ['full-width digits', '1', '\uff11'],
  ['no scope and a space', '', ' '],
  ['a zero-width space', 'acme', 'ac\u200bme'],
])('scopes that differ in %s are different ones', (_, one, other) => {
  expect(scopeHash(one)).not.toBe(scopeHash(other));
});

test.each([
  ['an unpaired high surrogate', '\ud800'],
  ['another one, which UTF-8 would make the same bytes of', '\ud801'],
  ['an unpaired low surrogate', 'acme\udfed'],
  ['NUL', 'ac\u0000me'],
  ['null', null],
  ['a number', 7],
])('a scope with %s is refused', (_, scope) => {
  expect(() => scopeHash(scope as string)).toThrow(InvalidSubmissionError);
  expect(() => scopeHash(scope as string)).toThrow('expected `scope` to be well-formed text without NUL');
});

test('the replacement character itself is a legal scope', () => {
  expect(scopeHash('\ufffd')).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ['a', 'bc', 'ab', 'c'],
  ['', 'abc', 'abc', ''],
  ['1', ':1', '1:', '1'],
  ['a1', '1:b', 'a', '11:b'],
  ['acme', 'key', 'acme', 'Key'],
  ['x', '3:a', 'x3', ':a'],
])('scope %j with key %j is not scope %j with key %j', (scope, key, otherScope, otherKey) => {
  expect(uniqueHash(scope, key)).not.toBe(uniqueHash(otherScope, otherKey));
});

test('the same scope and key have one hash', () => {
  expect(uniqueHash('租户-1', 'order')).toBe(uniqueHash('租户-1', 'order'));
  expect(uniqueHash('租户-1', 'order')).toMatch(/^[0-9a-f]{64}$/);
});
