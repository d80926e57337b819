import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineJob } from '../../src/core/definition.ts';
import { InvalidSubmissionError } from '../../src/core/errors.ts';
import { PayloadInvalidError } from '../../src/core/handler-errors.ts';
import type { StandardSchema } from '../../src/core/standard-schema.ts';
import { sendMail } from './builders.ts';

describe('a value becomes JSON text', () => {
  test.each<[string, unknown, string]>([
    ['null', null, 'null'],
    ['false', false, 'false'],
    ['a number', -0.5, '-0.5'],
    ['a text', '租户 🏭', '"租户 🏭"'],
    ['an empty text', '', '""'],
    ['a list', [1, 'a', null], '[1,"a",null]'],
    ['an object', { b: 1, a: { c: [] } }, '{"b":1,"a":{"c":[]}}'],
    ['a Date', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['a value with a toJSON', { toJSON: () => 5 }, '5'],
    ['an absent member', { a: undefined, b: 1 }, '{"b":1}'],
    ['a null that was one', { at: null }, '{"at":null}'],
    ['a lone surrogate, escaped', '\ud800', '"\\ud800"'],
    ['NUL, escaped', '\u0000', '"\\u0000"'],
    ['a member called __proto__', JSON.parse('{"__proto__":{"admin":true}}'), '{"__proto__":{"admin":true}}'],
  ])('%s', (_, payload, text) => {
    expect(sendMail.create(payload).payload).toBe(text);
  });

  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'not undefined, a function or a symbol'],
    ['a function', () => 1, 'not undefined, a function or a symbol'],
    ['a symbol', Symbol('x'), 'not undefined, a function or a symbol'],
    ['a toJSON that gives nothing', { toJSON: () => undefined }, 'not undefined, a function or a symbol'],
    ['NaN', NaN, 'finite numbers only; the payload is NaN'],
    ['NaN deep inside', { a: [{ amount: NaN }] }, 'finite numbers only; `amount` is NaN'],
    ['Infinity', [Infinity], 'finite numbers only; `0` is Infinity'],
    ['an invalid Date', new Date(NaN), 'valid Dates only; the payload is none'],
    ['an invalid Date deep inside', { a: { due: new Date('x') } }, 'valid Dates only; `due` is none'],
    ['a Map', new Map(), 'values that JSON keeps; the payload is [object Map]'],
    ['a BigInt', { a: 10n }, 'no BigInt'],
    ['a cycle', cycle(), 'no cycle'],
    ['a toJSON that throws', { toJSON: refuse }, 'no `toJSON` that throws'],
    ['a getter that throws', { get a() { return refuse(); } }, 'no `toJSON` that throws'],
    ['a revoked proxy', revoked(), 'no `toJSON` that throws'],
  ])('%s is refused', (_, payload, rule) => {
    expect(() => sendMail.create(payload)).toThrow(InvalidSubmissionError);
    expect(() => sendMail.create(payload)).toThrow(expect.objectContaining({ field: 'payload', rule: expect.stringContaining(rule) }));
  }); // prettier-ignore

  test('what its own code threw is kept as the cause', () => {
    expect(() => sendMail.create({ toJSON: refuse })).toThrow(expect.objectContaining({ cause: new Error('no') }));
  });

  test('getters and toJSON run once, when the submission is made', () => {
    let reads = 0;
    const counting = {
      get a() {
        return ++reads;
      },
      b: { toJSON: () => ++reads },
    };

    const submission = sendMail.create(counting);

    expect(reads).toBe(2);
    expect([submission.payload, submission.payload]).toEqual(['{"a":1,"b":2}', '{"a":1,"b":2}']);
    expect(reads).toBe(2);
  });

  test('an object that is changed afterwards changes nothing', () => {
    const payload = { to: ['ann'] };
    const submission = sendMail.create(payload);

    payload.to.push('bob');

    expect(submission.payload).toBe('{"to":["ann"]}');
  });
});

describe('raw JSON text', () => {
  test.each([
    '9007199254740993',
    '{"n":12345678901234567890.123456789012345678901}',
    '1e400',
    ' { "b" : 1,\n"a":\t2 } ',
    '{"a":1,"a":2}',
    '"\\u0041\\/"',
    '-0',
    'null',
  ])('%s is kept byte for byte', json => {
    expect(sendMail.createFromJson(json).payload).toBe(json);
  });

  test.each<[string, unknown]>([
    ['an empty text', ''],
    ['a single quote', `'a'`],
    ['a trailing comma', '[1,]'],
    ['NaN', 'NaN'],
    ['undefined', 'undefined'],
    ['a comment', '1 // one'],
    ['a byte order mark', '\ufeff1'],
    ['a line break in a text', '"\n"'],
    ['an object', { a: 1 }],
    ['nothing', undefined],
    ['a number', 5],
    ['a String object', new String('5')],
  ])('%s is refused', (_, json) => {
    const create = () => sendMail.createFromJson(json as string);

    expect(create).toThrow(InvalidSubmissionError);
    expect(create).toThrow(expect.objectContaining({ field: 'payload', rule: 'be JSON text' }));
  });

  test('what the parser said is kept as the cause', () => {
    expect(() => sendMail.createFromJson('[1,]')).toThrow(expect.objectContaining({ cause: expect.any(Error) }));
  });

  test('a lone surrogate that is not escaped is refused, as no database would store it', () => {
    expect(() => sendMail.createFromJson('"\ud800"')).toThrow('expected `payload` to be well-formed text without NUL');
  });
});

describe('a schema', () => {
  const invoice = defineJob({
    name: 'invoice.send',
    schema: z.object({ id: z.string(), due: z.coerce.date(), copies: z.number().default(1) }),
  });

  test('checks what is submitted, and the text of its input is stored', () => {
    expect(invoice.create({ id: 'i-1', due: '2026-12-01' }).payload).toBe('{"id":"i-1","due":"2026-12-01"}');
  });

  test('sees what the handler will see: the text parsed back', () => {
    const seen: unknown[] = [];
    const due = new Date(0);

    defineJob({ name: 'a', schema: aSchema(value => (seen.push(value), { value })) }).create({ due });

    expect(seen).toEqual([{ due: due.toJSON() }]);
  });

  test('makes of the stored text what the handler gets', () => {
    expect(invoice.parse('{"id":"i-1","due":"2026-12-01"}')).toEqual({
      id: 'i-1', due: new Date('2026-12-01'), copies: 1,
    }); // prettier-ignore
  });

  test('refuses raw text too', () => {
    expect(() => invoice.createFromJson('{"id":1}')).toThrow(expect.objectContaining({ field: 'payload' }));
  });

  test('is named with the path of what does not fit', () => {
    expect(() => invoice.create({ id: 1, due: 'soon' } as never)).toThrow(
      /^Invalid submission: expected `payload` to fit the schema of its definition \(id: .+; due: .+\)\.$/,
    );
  });

  test('shows five issues at most', () => {
    const issues = Array.from({ length: 9 }, (_, index) => ({ message: 'wrong', path: ['list', { key: index }] }));
    const definition = defineJob({ name: 'a', schema: aSchema(() => ({ issues })) });

    expect(() => definition.create(1)).toThrow('(list.0: wrong; list.1: wrong; list.2: wrong; list.3: wrong; list.4: wrong)');
  }); // prettier-ignore

  test.each<[string, StandardSchema]>([
    ['that promises', aSchema(async value => ({ value }))],
    ['that promises and breaks it', aSchema(() => Promise.reject(new Error('later')))],
    ['with a promise of another realm', aSchema(() => ({ then: () => {} }) as unknown as Promise<never>)],
    ['of zod with an asynchronous check', z.string().refine(async () => true)],
  ])('%s is refused, when submitting and before a handler', async (_, schema) => {
    const definition = defineJob({ name: 'a', schema });

    expect(() => definition.create('x' as never)).toThrow(expect.objectContaining({ field: 'schema' }));
    expect(() => definition.parse('"x"')).toThrow(PayloadInvalidError);
  });

  test('that throws has its error as the cause', () => {
    const definition = defineJob({ name: 'a', schema: aSchema(refuse) });
    const cause = new Error('no');

    expect(() => definition.create(1)).toThrow(expect.objectContaining({ code: 'INVALID_SUBMISSION', cause }));
    expect(() => definition.parse('1')).toThrow(expect.objectContaining({ code: 'PAYLOAD_INVALID', cause }));
  });

  test('is not asked about a payload that is too large', () => {
    const definition = defineJob({ name: 'a', schema: aSchema(refuse) });

    expect(() => definition.create('x'.repeat(1_000_000))).toThrow('1,000,000 bytes');
  });
});

describe('a stored payload', () => {
  test('is parsed where there is no schema', () => {
    expect(sendMail.parse('{"a":[1]}')).toEqual({ a: [1] });
  });

  test('that is no JSON any more is invalid', () => {
    expect(() => sendMail.parse('{"a":')).toThrow(PayloadInvalidError);
  });

  test('that does not fit is invalid, and the message says where', () => {
    const definition = defineJob({ name: 'a', schema: z.object({ id: z.string() }) });

    expect(() => definition.parse('{"id":5}')).toThrow(PayloadInvalidError);
    expect(() => definition.parse('{"id":5}')).toThrow(/^The stored payload does not fit the schema: id: /);
  });

  test('reaches no prototype', () => {
    const parsed = sendMail.parse('{"__proto__":{"admin":true}}') as { admin?: boolean };

    expect(parsed.admin).toBeUndefined();
    expect(Object.getPrototypeOf(parsed)).toBe(Object.getPrototypeOf({}));
  });
});

function refuse(): never {
  throw new Error('no');
}

function cycle(): unknown {
  const list: unknown[] = [];
  list.push({ list });
  return list;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function aSchema(validate: StandardSchema['~standard']['validate']): StandardSchema {
  return { '~standard': { version: 1, vendor: 'test', validate } };
}
