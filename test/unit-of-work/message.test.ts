import { describe, expect, test } from '@jest/globals';
import { checkedDelivery, freezeMessage, InvalidMessageError, type OutboxOptions } from '../../src/core/message.ts';

const message = { id: 'm', name: 'n', version: '1', content: 'c' };
const chars = (count: number, char = 'x') => char.repeat(count);

describe('a message', () => {
  test.each([
    ['id', 255],
    ['name', 255],
    ['version', 64],
  ])('may have a %s of 1 to %d characters, well-formed and without NUL', (field, max) => {
    const freeze = (value: unknown) => freezeMessage({ ...message, [field]: value });

    for (const value of ['x', chars(max), chars(max / 2 - 1, '😀'), ' ']) {
      expect(freeze(value)).toMatchObject({ [field]: value });
    }
    for (const value of ['', chars(max + 1), 'a\ud800', 'a\u0000b', 7, null, undefined]) {
      expect(() => freeze(value)).toThrow(expect.objectContaining({ code: 'INVALID_MESSAGE', field }));
    }
  });

  test.each([[null], [undefined], ['text'], [7]])('is an object, not %s', value => {
    expect(() => freezeMessage(value as never)).toThrow(InvalidMessageError);
    expect(() => checkedDelivery(value as never, 'c')).toThrow(InvalidMessageError);
  });

  test('may have any well-formed content, and no other', () => {
    expect(JSON.parse(freezeMessage({ ...message, content: '\u0000"' }).document)).toEqual({
      ...message,
      content: '\u0000"',
    });
    for (const content of ['\udc00', null, {}, undefined]) {
      expect(() => freezeMessage({ ...message, content } as never)).toThrow('`content`');
    }
  });

  test('is not frozen with options that are no object', () => {
    expect(() => freezeMessage(message, null as never)).toThrow('`options`');
  });
});

describe('what belongs to a message', () => {
  const limits: [keyof OutboxOptions, string[], string[]][] = [
    ['destination', ['', chars(255)], [chars(256)]],
    ['correlationId', ['', chars(200), chars(85, '語')], [chars(201), chars(86, '語'), chars(64, '😀')]],
    ['traceParent', ['', chars(128)], [chars(129)]],
    ['traceState', ['', chars(512)], [chars(513)]],
  ];

  test.each(limits)('%s keeps its limits', (field, good, bad) => {
    const freeze = (value: unknown) => freezeMessage(message, { [field]: value });

    for (const value of good) expect(freeze(value)).toMatchObject({ [field]: value });
    for (const value of [null, undefined]) expect(freeze(value)).toMatchObject({ [field]: null });
    for (const value of [...bad, 'a\ud83d', 'a\u0000', 7, {}]) {
      expect(() => freeze(value)).toThrow(expect.objectContaining({ code: 'INVALID_MESSAGE', field }));
    }
  });

  test('sendBefore is an instant that a column can hold', () => {
    expect(freezeMessage(message, { sendBefore: new Date(5) }).sendDeadline).toBe(5000);
    expect(freezeMessage(message, { sendBefore: null }).sendDeadline).toBeNull();
    for (const sendBefore of [new Date(NaN), new Date(-1), new Date('2256-01-01T00:00:00Z'), 7]) {
      expect(() => freezeMessage(message, { sendBefore } as never)).toThrow('`sendBefore`');
    }
  });
});

test('a consumer has 1 to 255 characters, well-formed and without NUL', () => {
  expect(checkedDelivery(message, chars(255)).consumer).toBe(chars(255));
  for (const consumer of ['', chars(256), '\ud800', '\u0000', undefined]) {
    expect(() => checkedDelivery(message, consumer as never)).toThrow('`consumer`');
  }
});
