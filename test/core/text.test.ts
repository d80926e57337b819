import { expect, test } from '@jest/globals';
import { cutToBytes, isStorable, shortened, storable } from '../../src/core/text.ts';

const lone = '\ud83d';

test.each([
  ['', true],
  ['租户 é 🏭', true],
  ['\u0001\u001f\u007f\ufffd\ufeff\u{10ffff}', true],
  ['\u0000', false],
  [`before${lone}`, false],
  ['\udfedafter', false],
  ['\udfed\ud83c', false],
])('whether every database stores %j: %p', (text, expected) => {
  expect(isStorable(text)).toBe(expected);
  expect(storable(text) === text).toBe(expected);
});

test('what no database would store is replaced visibly', () => {
  expect(storable(`a\u0000b${lone}c🏭`)).toBe('a\ufffdb\ufffdc🏭');
});

test.each([
  // one, two, three and four bytes a character
  ['abc', 3, 'abc'],
  ['abc', 2, 'ab'],
  ['éé', 4, 'éé'],
  ['éé', 3, 'é'],
  ['租户', 6, '租户'],
  ['租户', 5, '租'],
  ['租户', 4, '租'],
  ['🏭🏭', 8, '🏭🏭'],
  ['🏭🏭', 7, '🏭'],
  ['🏭🏭', 4, '🏭'],
  ['🏭', 3, ''],
  ['a🏭', 2, 'a'],
  ['aaa🏭', 4, 'aaa'],
  ['aaa🏭', 6, 'aaa'],
  ['aaa🏭', 7, 'aaa🏭'],
  ['a', 0, ''],
  ['', 5, ''],
])('%j cut to %d bytes is %j', (text, bytes, expected) => {
  expect(cutToBytes(text, bytes)).toBe(expected);
});

test('a cut text is never longer than it may be, never more than one character too short, and well-formed', () => {
  const text = 'aé租🏭'.repeat(20);

  for (let bytes = 0; bytes <= 200; bytes++) {
    const cut = cutToBytes(text, bytes);

    expect(text.startsWith(cut)).toBe(true);
    expect(cut.isWellFormed()).toBe(true);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes);
    expect(Buffer.byteLength(cut)).toBeGreaterThan(bytes - 4);
  }
});

test('a text of no more than the allowed length stays as it is', () => {
  expect(shortened('x'.repeat(100), 100)).toBe('x'.repeat(100));
});

test('a longer text loses its middle, and keeps beginning and end', () => {
  const text = `begin${'x'.repeat(200)}end`;

  expect(shortened(text, 100)).toHaveLength(100);
  expect(shortened(text, 100)).toMatch(/^beginx+ … x+end$/);
});

test.each([0, 1])('the middle that is lost never takes half a character, wherever it begins (%d)', offset => {
  const text = `${'x'.repeat(offset)}${'🏭'.repeat(100)}`;

  for (let length = 50; length < 58; length++) {
    expect(shortened(text, length).isWellFormed()).toBe(true);
    expect(shortened(text, length).length).toBeLessThanOrEqual(length + 1);
  }
});
