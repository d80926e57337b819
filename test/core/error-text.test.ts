import { describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { errorText, maxErrorBytes } from '../../src/core/error-text.ts';
import { isStorable } from '../../src/core/text.ts';

const refuse = () => {
  throw new Error('a trap');
};
const throwingTraps = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
  getOwnPropertyDescriptor: refuse,
};

describe('what is kept of an error', () => {
  test('name, message and stack', () => {
    expect(errorText(new RangeError('too far'))).toMatch(/^RangeError: too far\n {4}at .*error-text\.test\.ts/);
  });

  test('the name that it has now, not the one that its stack was made with', () => {
    const error = new Error('card declined');
    expect(error.stack).toMatch(/^Error: card declined/);

    error.name = 'PermanentError';

    expect(errorText(error)).toMatch(/^PermanentError: card declined\n {4}at /);
    expect(errorText(error).match(/card declined/g)).toHaveLength(1);
  });

  test.each(['it was changed', 'at', 'r', ''])('the message that it has now: %j', message => {
    const error = new Error('before');
    expect(error.stack).toMatch(/^Error: before/);
    error.message = message;
    const [head, firstFrame] = errorText(error).split('\n');

    expect(head).toBe(`Error: ${message || '(no message)'}`);
    expect(error.stack!.split('\n')[1]).toBe(firstFrame);
  });

  test('a message of several lines, once, even where it looks like a stack', () => {
    const error = new Error('first\n    at nowhere\nlast');

    expect(errorText(error)).toMatch(/^Error: first\n {4}at nowhere\nlast\n {4}at .*error-text\.test\.ts/);
    expect(errorText(error).match(/nowhere/g)).toHaveLength(1);
  });

  test('a stack in the style of somebody else', () => {
    expect(errorText(Object.assign(new Error('failed'), { stack: 'main@app.js:1:2' }))).toBe(
      'Error: failed\nmain@app.js:1:2',
    );
    expect(errorText(Object.assign(new Error('failed'), { stack: 'Error: failed' }))).toBe('Error: failed');
    expect(errorText(Object.assign(new Error('failed'), { stack: undefined }))).toBe('Error: failed');
    expect(errorText(Object.assign(new Error('failed'), { stack: [{ line: 1 }] }))).toBe('Error: failed');
  });

  test('its causes, the outermost first', () => {
    const error = new Error('no receipt', { cause: new Error('no connection', { cause: 'ECONNREFUSED' }) });

    expect(heads(error)).toEqual(['Error: no receipt', 'Error: no connection', 'ECONNREFUSED']);
  });

  test('the errors of an AggregateError, before their causes', () => {
    const inner = new Error('::1', { cause: new Error('deeper') });

    expect(heads(new AggregateError([inner, new Error('127.0.0.1')], ''))).toEqual([
      'AggregateError: (no message)',
      'Error: ::1',
      'Error: 127.0.0.1',
      'Error: deeper',
    ]);
  });

  test('the cause also where the stack is very long', () => {
    const error = new Error('outer', { cause: new Error('the root') });
    error.stack = `Error: outer${'\n    at somewhere (file.js:1:1)'.repeat(5000)}`;

    expect(heads(error)).toEqual(['Error: outer', 'Error: the root']);
  });

  test('no cause where there is none', () => {
    expect(heads(new Error('alone', { cause: undefined }))).toEqual(['Error: alone']);
    expect(heads(new Error('alone', { cause: null }))).toEqual(['Error: alone']);
  });

  test('the end of a long message, where drivers put the reason', () => {
    const text = errorText(new Error(`insert into ${'x'.repeat(20_000)} - UNIQUE constraint failed`));

    expect(text).toMatch(/^Error: insert into x+ … x+ - UNIQUE constraint failed\n {4}at /);
  });
});

describe('what is thrown may be anything', () => {
  const circular: Record<string, unknown> = { status: 500 };
  circular.request = { response: circular };
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();

  test.each<[string, unknown, string | RegExp]>([
    ['undefined', undefined, 'not an error: undefined'],
    ['null', null, 'not an error: null'],
    ['a string', 'card declined', 'card declined'],
    ['an empty string', '', `not an error: ''`],
    ['a number', 42, 'not an error: 42'],
    ['NaN', NaN, 'not an error: NaN'],
    ['a BigInt', 10n, 'not an error: 10n'],
    ['a symbol', Symbol('why'), 'not an error: Symbol(why)'],
    ['a plain object', { code: 42 }, 'not an error: { code: 42 }'],
    ['an object with a message', { message: 'declined' }, 'Error: declined'],
    ['an object without a prototype', Object.create(null), 'not an error: [Object: null prototype] {}'],
    ['a circular graph', circular, /^not an error: .*status: 500/],
    ['a function', () => 1, 'not an error: [Function (anonymous)]'],
    ['a function whose toString throws', Object.assign(() => 1, { toString: refuse }), /^not an error: \[Function/],
    ['a proxy whose traps throw', new Proxy({}, throwingTraps), 'not an error: {}'],
    ['a proxy of a function whose traps throw', new Proxy(refuse, throwingTraps), /^not an error: \[Function/],
    ['a proxy of an error whose traps throw', new Proxy(new Error('hidden'), throwingTraps), /^not an error: Error: hidden/],
    ['a revoked proxy', revoked, 'not an error: <Revoked Proxy>'],
    ['an object that refuses to be shown', { get [Symbol.toStringTag]() { return refuse(); } }, `not an error: of type object, it can't be shown`],
    ['an object with an inspection of its own', { [inspect.custom]: refuse }, /^not an error: \{/],
    ['a frozen error', Object.freeze(new Error('frozen')), /^Error: frozen\n/],
    ['an error with a BigInt', Object.assign(new Error('big'), { amount: 10n }), /^Error: big\n/],
    ['an error with itself in it', Object.assign(new Error('self'), circular), /^Error: self\n/],
    ['an error whose toJSON throws', Object.assign(new Error('json'), { toJSON: refuse }), /^Error: json\n/],
    ['an error whose message throws', withThrowing('message'), /^Error: \(no message\)\n/],
    ['an error whose stack throws', withThrowing('stack'), 'Error: x'],
    ['an error whose name throws', withThrowing('name'), /^Error: x\n/],
    ['an error whose cause throws', withThrowing('cause'), /^Error: x\n/],
    ['an error with a message that is no text', Object.assign(new Error('x'), { message: { a: 1 } }), /^Error: \(no message\)\n/],
    ['an error with a name that is no text', Object.assign(new Error('x'), { name: 7 }), /^Error: x\n/],
    ['an error that has itself as its cause', selfCaused(), /^Error: x\n(?!.*caused by)/s],
    ['an error whose errors are no list', Object.assign(new Error('x'), { errors: 'many' }), /^Error: x\n(?!.*caused by)/s],
    ['an AggregateError of anything', new AggregateError([undefined, null, 'text', 5]), /caused by: text\ncaused by: not an error: 5$/],
  ])('%s', (_, thrown, expected) => {
    const text = errorText(thrown);

    expect(text).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
    expect(isStorable(text)).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxErrorBytes);
  }); // prettier-ignore
});

describe('a text that every database stores, of at most 8,192 bytes, at once', () => {
  const huge = 20_000_000;

  test.each<[string, () => unknown]>([
    ['a message of 20 MB', () => new Error('x'.repeat(huge))],
    ['a string of 20 MB', () => '租'.repeat(huge / 4)],
    ['a name of 20 MB', () => Object.assign(new Error('x'), { name: 'x'.repeat(huge) })],
    ['a stack of 20 MB', () => Object.assign(new Error('x'), { stack: `Error: x${'\n    at y (z:1:1)'.repeat(1_000_000)}` })],
    ['a stack of 20 MB without frames', () => Object.assign(new Error('x'), { stack: 'y'.repeat(huge) })],
    ['a message of 70 KB of emoji', () => new Error('🏭'.repeat(17_500))],
    ['the same, one unit further on', () => new Error(`x${'🏭'.repeat(17_500)}`)],
    ['a stack of 5,000 lines', () => Object.assign(new Error('x'), { stack: `Error: x${'\n    at 租户 (z:1:1)'.repeat(5000)}` })],
    ['50 causes', () => nested(50)],
    ['50 causes with long messages', () => nested(50, '租'.repeat(5000))],
    ['100,000 causes', () => nested(100_000)],
    ['an AggregateError of 100,000', () => new AggregateError(Array.from({ length: 100_000 }, (_, i) => new Error(`${i}`)))],
    ['AggregateErrors that never end', () => endless()],
    ['a Buffer of 20 MB', () => Buffer.alloc(huge)],
    ['lone surrogates', () => new Error('a\ud83d b\udfed', { cause: '\ud800' })],
    ['NUL', () => new Error('a\u0000b')],
  ])('%s', (_, make) => {
    const thrown = make();
    const start = performance.now();
    const text = errorText(thrown);

    expect(performance.now() - start).toBeLessThan(1000);
    expect(isStorable(text)).toBe(true);
    expect(text.length).toBeGreaterThan(0);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxErrorBytes);
  }); // prettier-ignore

  test('a long text fills them', () => {
    const errors = Array.from({ length: 5 }, (_, index) => new Error(`${index}${'x'.repeat(4000)}`));

    expect(maxErrorBytes).toBe(8192);
    expect(Buffer.byteLength(errorText(new AggregateError(errors)))).toBe(8192);
  });

  test('cutting breaks no character', () => {
    expect(errorText(new Error('🏭'.repeat(17_500)))).not.toContain('\ufffd');
    expect(errorText(new Error(`x${'🏭'.repeat(17_500)}`))).not.toContain('\ufffd');
  });

  test('what can not be stored is replaced visibly', () => {
    expect(errorText('a\ud83db\u0000c')).toBe('a\ufffdb\ufffdc');
  });

  test('of many causes the first ones are kept', () => {
    expect(heads(nested(50)).slice(0, 4)).toEqual([0, 1, 2, 3].map(level => `Error: level ${level}`));
  });
});

/** The first line of each error in the text. */
function heads(error: unknown): string[] {
  return errorText(error)
    .split('\ncaused by: ')
    .map(text => text.split('\n')[0]!);
}

function withThrowing(property: string): Error {
  const error = new Error('x');
  // What a stack looks like is decided when it is first read.
  expect(error.stack).toMatch(/^Error: x/);

  return Object.defineProperty(error, property, { get: refuse });
}

function selfCaused(): Error {
  const error = new Error('x');
  error.cause = error;
  return error;
}

function nested(depth: number, suffix = ''): Error {
  let error: Error | undefined;
  for (let level = depth - 1; level >= 0; level--) {
    error = new Error(`level ${level}${suffix}`, { cause: error });
  }

  return error!;
}

/** Every look at its errors makes new ones. */
function endless(): object {
  return { message: 'endless', get errors() { return Array.from({ length: 100 }, endless); } }; // prettier-ignore
}
