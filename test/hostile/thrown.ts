import { createContext, runInContext, runInNewContext } from 'node:vm';
import { PermanentError } from '../../src/core/handler-errors.ts';

const refuse = () => {
  throw new Error('a trap');
};
const traps: ProxyHandler<object> = {
  get: refuse,
  set: refuse,
  has: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
  getOwnPropertyDescriptor: refuse,
  isExtensible: refuse,
  defineProperty: refuse,
};
const realm = createContext({});
const huge = 20_000_000;

/** What code throws, and a part of what is to be read of it in the job. */
export const thrownThings: ReadonlyArray<readonly [title: string, make: () => unknown, readable: string]> = [
  ['undefined', () => undefined, 'not an error: undefined'],
  ['null', () => null, 'not an error: null'],
  ['true', () => true, 'not an error: true'],
  ['false', () => false, 'not an error: false'],
  ['zero', () => 0, 'not an error: 0'],
  ['minus zero', () => -0, 'not an error: 0'],
  ['NaN', () => NaN, 'not an error: NaN'],
  ['a BigInt', () => 10n ** 30n, 'not an error: 1000000000000000000000000000000n'],
  ['a symbol', () => Symbol('why'), 'not an error: Symbol(why)'],
  ['a well-known symbol', () => Symbol.iterator, 'not an error: Symbol(Symbol.iterator)'],
  ['a text', () => 'declined', 'declined'],
  ['an empty text', () => '', `not an error: ''`],
  ['a text of 20 MB', () => '租'.repeat(huge / 4), '租租租'],
  ['a text with NUL and half a pair', () => 'a\0b\ud800c', 'a\ufffdb\ufffdc'],
  ['a boxed text', () => Object('declined'), 'not an error: '],
  ['a function', () => refuse, 'not an error: [Function: refuse]'],
  ['a class', () => class Oops {}, 'not an error: [class Oops]'],
  ['an async generator', () => (async function* () { yield 1; })(), 'not an error: Object [AsyncGenerator] {}'],
  ['a Map', () => new Map([['a', 1]]), `not an error: Map(1) { 'a' => 1 }`],
  ['a Date', () => new Date(NaN), 'not an error: Invalid Date'],
  ['a regular expression', () => /x/, 'not an error: /x/'],
  ['a Buffer of 20 MB', () => Buffer.alloc(huge), 'not an error: '],
  ['a list', () => [1, 'a', null], `not an error: [ 1, 'a', null ]`],
  ['a list of gaps', () => new Array(1e6), 'not an error: '],
  ['an abort signal', () => AbortSignal.abort(), 'not an error: '],
  ['a response', () => new Response('x', { status: 500 }), 'not an error: '],
  ['a promise that is rejected', () => { const p = Promise.reject(new Error('inner')); p.catch(() => {}); return { promise: p }; }, 'not an error: '],
  ['an empty object', () => ({}), 'not an error: {}'],
  ['an object without a prototype', () => Object.create(null), 'not an error: [Object: null prototype] {}'],
  ['an object with a code', () => ({ code: 'E_DECLINED' }), `not an error: { code: 'E_DECLINED' }`],
  ['an object with a message', () => ({ message: 'declined' }), 'Error: declined'],
  ['an object that is thenable', () => ({ message: 'declined', then: 5 }), 'Error: declined'],
  ['an object that holds itself', () => { const o: Record<string, unknown> = { status: 500 }; o.o = o; return o; }, 'status: 500'],
  ['an object with a toStringTag that throws', () => ({ get [Symbol.toStringTag]() { return refuse(); } }), 'not an error: of type object'],
  ['an object with a toString that throws', () => ({ toString: refuse, valueOf: refuse, [Symbol.toPrimitive]: refuse, toJSON: refuse }), 'not an error: '],
  ['an object of 100,000 members', () => Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`m${i}`, i])), 'not an error: '],
  ['a proxy whose traps throw', () => new Proxy({}, traps), 'not an error: {}'],
  ['a proxy of a function whose traps throw', () => new Proxy(refuse, traps), 'not an error: [Function'],
  ['a proxy of an error whose traps throw', () => new Proxy(new Error('hidden'), traps), 'Error: hidden'],
  ['a proxy of an error', () => new Proxy(new Error('shown'), {}), 'Error: shown'],
  ['a proxy that answers everything with itself', () => { const p: object = new Proxy(() => p, { get: () => p, apply: () => p }); return p; }, 'not an error: '],
  ['a proxy of a proxy of a proxy', () => new Proxy(new Proxy(new Proxy({}, traps), traps), traps), 'not an error: '],
  ['a revoked proxy', () => revoked({}), 'not an error: <Revoked Proxy>'],
  ['a revoked proxy of an error', () => revoked(new Error('gone')), 'not an error: <Revoked Proxy>'],
  ['an error', () => new Error('declined'), 'Error: declined'],
  ['an error without a message', () => new Error(), 'Error: (no message)'],
  ['an error of another class', () => new RangeError('too far'), 'RangeError: too far'],
  ['a programmer’s error', () => { try { return (undefined as unknown as { a: { b: 1 } }).a.b; } catch (error) { return error; } }, 'TypeError: Cannot read prop'],
  ['a stack that has overflowed', () => { try { return (function f(): never { return f(); })(); } catch (error) { return error; } }, 'RangeError: Maximum call stack'],
  ['a DOMException', () => new DOMException('timed out', 'TimeoutError'), 'TimeoutError: timed out'],
  ['a system error', () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', errno: -111 }), 'Error: connect ECONNREFUSED'],
  ['an error of another realm', () => runInNewContext('new TypeError("from elsewhere")'), 'TypeError: from elsewhere'],
  ['an error of another realm with a cause of that realm', () => runInContext('new Error("outer", { cause: new RangeError("inner") })', realm), 'caused by: RangeError: inner'],
  ['an AggregateError of another realm', () => runInContext('new AggregateError([new Error("one"), new Error("two")], "both")', realm), 'caused by: Error: two'],
  ['a frozen error', () => Object.freeze(new Error('frozen')), 'Error: frozen'],
  ['a sealed error without a stack', () => Object.seal(Object.assign(new Error('sealed'), { stack: undefined })), 'Error: sealed'],
  ['an error without a prototype', () => Object.setPrototypeOf(new Error('bare'), null), 'Error: bare'],
  ['an error with another name', () => Object.assign(new Error('x'), { name: 'DeclinedError' }), 'DeclinedError: x'],
  ['an error with a name of 20 MB', () => Object.assign(new Error('x'), { name: 'n'.repeat(huge) }), 'nnnn'],
  ['an error with a name that is no text', () => Object.assign(new Error('x'), { name: { a: 1 } }), 'Error: x'],
  ['an error with a message that is no text', () => Object.assign(new Error('x'), { message: 5 }), 'Error: (no message)'],
  ['an error with a stack that is no text', () => Object.assign(new Error('x'), { stack: [1] }), 'Error: x'],
  ['an error with a message of 20 MB', () => new Error(`first${'x'.repeat(huge)}last`), 'last'],
  ['an error with a message of 70 KB of emoji', () => new Error('🏭'.repeat(17_500)), 'Error: 🏭'],
  ['an error with a stack of 20 MB', () => Object.assign(new Error('x'), { stack: `Error: x${'\n    at y (z:1:1)'.repeat(1e6)}` }), '    at y (z:1:1)'],
  ['an error with NUL', () => new Error('a\0b'), 'Error: a\ufffdb'],
  ['an error with half a pair', () => new Error('a\ud800'), 'Error: a\ufffd'],
  ['an error with NUL in its name and stack', () => Object.assign(new Error('x'), { name: '\0', stack: 'Error: x\n    at \0\udc00' }), '\ufffd: x\n    at \ufffd\ufffd'],
  ['an error with a quote that SQL knows', () => new Error(`it's "a" \\' $1 ? -- ; /*`), `Error: it's "a" \\' $1 ? -- ; /*`],
  ['an error with a message of lines', () => new Error('first\n    at nowhere\n\nlast'), 'Error: first\n    at nowhere\n\nlast'],
  ['an error whose message throws', () => getter('message'), 'Error: (no message)'],
  ['an error whose name throws', () => getter('name'), 'Error: x'],
  ['an error whose stack throws', () => getter('stack'), 'Error: x'],
  ['an error whose cause throws', () => getter('cause'), 'Error: x'],
  ['an error whose errors throw', () => getter('errors'), 'Error: x'],
  ['an error whose code throws', () => getter('code'), 'Error: x'],
  ['an error whose constructor throws', () => getter('constructor'), 'Error: x'],
  ['an error whose toJSON and toString throw', () => Object.assign(new Error('x'), { toJSON: refuse, toString: refuse }), 'Error: x'],
  ['an error whose message is another with every look', () => Object.defineProperty(new Error('x'), 'message', { get: () => `${Math.random()}` }), 'Error: 0.'],
  ['an error with a BigInt', () => Object.assign(new Error('x'), { amount: 1n }), 'Error: x'],
  ['an error with itself in it', () => { const e = new Error('self') as Error & { self: unknown }; e.self = e; return e; }, 'Error: self'],
  ['an error that is its own cause', () => { const e = new Error('self'); e.cause = e; return e; }, 'Error: self'],
  ['errors that are the causes of each other', () => { const a = new Error('a'); a.cause = new Error('b', { cause: a }); return a; }, 'caused by: Error: b'],
  ['an error with a text for a cause', () => new Error('x', { cause: 'because' }), 'caused by: because'],
  ['an error with a symbol for a cause', () => new Error('x', { cause: Symbol('because') }), 'caused by: not an error: Symbol(because)'],
  ['an error with a revoked proxy for a cause', () => new Error('x', { cause: revoked({}) }), 'caused by: not an error: <Revoked Proxy>'],
  ['an error with 100,000 causes', () => chain(100_000), 'caused by: Error: level 3'],
  ['an error with a new cause for every look', () => endless(), 'Error: endless'],
  ['an AggregateError', () => new AggregateError([new Error('one'), new Error('two')], 'both'), 'caused by: Error: one'],
  ['an AggregateError of nothing', () => new AggregateError([]), 'AggregateError: (no message)'],
  ['an AggregateError of anything', () => new AggregateError([undefined, null, 'text', 5, revoked({})]), 'caused by: not an error: 5'],
  ['an AggregateError of 100,000', () => new AggregateError(Array.from({ length: 100_000 }, (_, i) => new Error(`${i}`))), 'caused by: Error: 0'],
  ['an AggregateError that holds itself', () => { const e = new AggregateError([new Error('one')]); e.errors.push(e); return e; }, 'caused by: Error: one'],
  ['an AggregateError whose errors are no list', () => Object.assign(new AggregateError([]), { errors: { length: 1e9 } }), 'AggregateError'],
  ['an error that seems to be one of the library', () => Object.assign(new Error('x'), { code: 'PERMANENT' }), 'Error: x'],
  ['an AbortError', () => Object.assign(new Error('aborted'), { name: 'AbortError', code: 'ABORT_ERR' }), 'AbortError: aborted'],
  ['an error of Node', () => { try { return Buffer.alloc(-1); } catch (error) { return error; } }, 'RangeError: The value of "size"'],
  ['an error of JSON', () => { try { return JSON.parse('{'); } catch (error) { return error; } }, 'SyntaxError: '],
  ['a PermanentError whose cause is a trap', () => new PermanentError('for good', { cause: new Proxy({}, traps) }), 'PermanentError: for good'],
]; // prettier-ignore

/** What a handler returns that can be no result reference. */
export const oddResults: ReadonlyArray<readonly [title: string, make: () => unknown]> = [
  ['a number', () => 5],
  ['true', () => true],
  ['NaN', () => NaN],
  ['a BigInt', () => 1n],
  ['a symbol', () => Symbol('a')],
  ['a function', () => refuse],
  ['an object', () => ({ ok: true })],
  ['a list of texts', () => ['a']],
  ['a boxed text', () => Object('a')],
  ['a cycle', () => { const o: Record<string, unknown> = {}; o.o = o; return o; }],
  ['an error', () => new Error('returned')],
  ['a Buffer', () => Buffer.from('a')],
  ['a text of 2,049 characters', () => 'x'.repeat(2049)],
  ['a text of 20 MB', () => 'x'.repeat(huge)],
  ['a text with NUL', () => 'a\0'],
  ['a text with half a pair', () => 'a\ud800'],
  ['an object whose conversions throw', () => ({ toString: refuse, valueOf: refuse, toJSON: refuse, [Symbol.toPrimitive]: refuse })],
]; // prettier-ignore

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();

  return proxy;
}

function getter(property: string): Error {
  const error = new Error('x');
  // What a stack looks like is decided when it is first read.
  void error.stack;

  return Object.defineProperty(error, property, { get: refuse });
}

function chain(length: number): Error {
  let error: Error | undefined;
  for (let level = length - 1; level >= 0; level--) {
    error = new Error(`level ${level}`, { cause: error });
  }

  return error!;
}

function endless(): Error {
  return Object.defineProperty(new Error('endless'), 'cause', { get: endless });
}
