import { runInNewContext } from 'node:vm';

class Money {
  readonly currency = 'EUR';
  readonly #cents = 5;
  cents() { return this.#cents; }
} // prettier-ignore

const at = new Date('2026-01-02T03:04:05.678Z');
const deep = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`;
const sparse: unknown[] = [];
sparse[2] = 1;

/** What is its own JSON: a handler gets it deeply equal. */
export const plainValues: ReadonlyArray<readonly [title: string, value: unknown]> = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['zero', 0],
  ['a large number', 1e308],
  ['the largest number', Number.MAX_VALUE],
  ['the smallest number', Number.MIN_VALUE],
  ['a denormal number', 2.2250738585072011e-308],
  ['the smallest normal number', 2.2250738585072014e-308],
  ['the largest safe integer', Number.MAX_SAFE_INTEGER],
  ['the smallest safe integer', Number.MIN_SAFE_INTEGER],
  ['an integer beyond 2^53', 2 ** 53 + 2],
  ['2^63', 2 ** 63],
  ['-2^63', -(2 ** 63)],
  ['2^64', 2 ** 64],
  ['1e21, where the exponent begins', 1e21],
  ['just below it', 999999999999999900000],
  ['1e-7, where the exponent begins', 1e-7],
  ['a third', 1 / 3],
  ['0.1 + 0.2', 0.1 + 0.2],
  ['epsilon', Number.EPSILON],
  ['seventeen digits', 0.30000000000000004],
  ['five and a half', -5.5],
  ['an empty text', ''],
  ['an empty list', []],
  ['an empty object', {}],
  ['lists in lists', [[], [[]], [[[]]]]],
  ['a list of everything', [null, true, 0, '', [], {}]],
  ['a list of nulls', Array.from({ length: 1000 }, () => null)],
  ['numbers as keys', { 2: 'b', 10: 'c', 1: 'a', '-1': 'd', '01': 'e', 1.5: 'f', 4294967295: 'g', 4294967294: 'h' }],
  ['an empty key', { '': { '': '' } }],
  ['keys of one letter in every case', { a: 1, A: 2, á: 3, 'a\u0301': 4, 'a ': 5, ' a': 6 }],
  ['keys that objects have', JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}},"toString":1,"valueOf":2,"hasOwnProperty":3,"then":4}')],
  ['keys that MongoDB has', { $ne: null, $where: '1', 'a.b': { 'c[0]': 1 } }],
  ['many keys', Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, index]))],
  ['many keys that are numbers', Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [index * 7, index]))],
  ['a long key', { ['k'.repeat(100_000)]: 1 }],
  ['a long text', 'x'.repeat(900_000)],
  ['a long text that JSON escapes', '"'.repeat(400_000)],
  ['a long list', Array.from({ length: 100_000 }, (_, index) => index)],
  ['deep lists', JSON.parse(deep(200, '[', ']'))],
  ['deep objects', JSON.parse(deep(200, '{"a":', '}'))],
  ['the same object twice', ((shared: object) => [shared, shared, { shared }])({ a: [1] })],
  ['lone surrogates', ['\ud800', '\udc00', { '\ud800': '\udfff' }, '\udc00\ud800']],
  ['NUL', ['\0', { '\0': '\0\0' }]],
  ['line separators', '\u2028\u2029'],
  ['what looks like JSON', '{"a":"\\u0000"}'],
  ['what looks like a date', at.toJSON()],
  ['a frozen object', Object.freeze({ a: Object.freeze([1]) })],
  ['an object of another realm', JSON.parse(runInNewContext('JSON.stringify({ a: [1, { b: null }] })'))],
]; // prettier-ignore

/** What JSON has another form for, its own or by `toJSON`; that is what a handler gets. */
export const writtenValues: ReadonlyArray<readonly [title: string, value: unknown, json: string]> = [
  ['minus zero', [-0, { a: -0 }], '[0,{"a":0}]'],
  ['a Date', { at }, '{"at":"2026-01-02T03:04:05.678Z"}'],
  ['a Date of another realm', runInNewContext('[new Date(0)]'), '["1970-01-01T00:00:00.000Z"]'],
  ['the last Date', new Date(8.64e15), '"+275760-09-13T00:00:00.000Z"'],
  ['a Date before year 0', new Date(-8.64e15), '"-271821-04-20T00:00:00.000Z"'],
  ['a URL', new URL('https://example.org/a?b#c'), '"https://example.org/a?b#c"'],
  ['a Buffer', Buffer.from('hi'), '{"type":"Buffer","data":[104,105]}'],
  ['boxed primitives', [Object(1), Object('a'), Object(false)], '[1,"a",false]'],
  ['an instance of a class', new Money(), '{"currency":"EUR"}'],
  ['an instance of a class without members', new (class Ping {})(), '{}'],
  ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 }), '{"a":1}'],
  ['members that are absent, functions or symbols', { a: undefined, b: () => 1, c: Symbol('c'), d: 1, [Symbol('e')]: 2 }, '{"d":1}'],
  ['inherited members', Object.create({ a: 1 }, { b: { value: 2, enumerable: true } }), '{"b":2}'],
  ['hidden members', Object.defineProperty({ b: 1 }, 'a', { value: 1, enumerable: false }), '{"b":1}'],
  ['a getter', { get a() { return [1]; } }, '{"a":[1]}'],
  ['a toJSON', { a: { toJSON: (key: string) => `of ${key}` } }, '{"a":"of a"}'],
  ['a toJSON that gives an object', { toJSON: () => ({ a: 1 }) }, '{"a":1}'],
  ['a toJSON that leaves its member out', { a: { toJSON: () => undefined }, b: 1 }, '{"b":1}'],
  ['a toJSON that is no function', { toJSON: 1 }, '{"toJSON":1}'],
  ['a Map with a toJSON', Object.assign(new Map([[1, 2]]), { toJSON: () => ['map'] }), '["map"]'],
  ['a list with members', Object.assign([1], { extra: 2 }), '[1]'],
  ['arguments', (function (..._: unknown[]) { return arguments; })(1, 2), '{"0":1,"1":2}'], // eslint-disable-line prefer-rest-params
  ['a proxy', new Proxy({ a: [1] }, {}), '{"a":[1]}'],
  ['a proxy of a list', new Proxy([1, 2], {}), '[1,2]'],
  ['Math', Math, '{}'],
  ['an enum', ((e: Record<string, unknown>) => ((e[(e.A = 0)] = 'A'), e))({}), '{"0":"A","A":0}'],
]; // prettier-ignore

const refuse = () => {
  throw new Error('no');
};

/** What is no JSON, or would be a value that nobody meant. */
export const refusedValues: ReadonlyArray<readonly [title: string, value: unknown]> = [
  ['undefined', undefined],
  ['a function', () => 1],
  ['a class', Money],
  ['a symbol', Symbol('a')],
  ['a BigInt', 1n],
  ['a boxed BigInt', [Object(1n)]],
  ['NaN', NaN],
  ['Infinity', { a: Infinity }],
  ['-Infinity', [[-Infinity]]],
  ['a boxed NaN', { a: Object(NaN) }],
  ['a boxed Infinity', [Object(Infinity)]],
  ['an invalid Date', { a: new Date(NaN) }],
  ['an invalid Date of another realm', runInNewContext('({ a: new Date(NaN) })')],
  ['floating-point numbers in an array of their own', new Float64Array([NaN])],
  ['a cycle', ((cycle: Record<string, unknown>) => (cycle.a = [cycle]))({})],
  ['a toJSON that makes a cycle', ((cycle: { toJSON?: () => unknown }) => ((cycle.toJSON = () => [cycle]), cycle))({})],
  ['a toJSON that throws', { a: { toJSON: refuse } }],
  ['a toJSON that throws undefined', { toJSON: () => { throw undefined; } }],
  ['a getter that throws', { get a() { return refuse(); } }],
  ['a proxy whose traps throw', new Proxy({}, { get: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse })],
  ['a revoked proxy', revoked()],
  ['lists that are too deep to be written', deepList(200_000)],
  ['more than a million bytes', '租'.repeat(333_333)],
  ['more than a million bytes as they are escaped', '\0'.repeat(200_000)],
]; // prettier-ignore

/** What JSON makes null or an empty object of, without a word. */
export const lostValues: ReadonlyArray<readonly [title: string, value: unknown]> = [
  ['a boxed symbol', { a: Object(Symbol('a')) }],
  ['undefined in a list', [1, undefined]],
  ['a function in a list', { a: [() => 1] }],
  ['a symbol in a list', [Symbol('a')]],
  ['a gap in a list', sparse],
  ['nothing but gaps', new Array(3)],
  ['a toJSON that gives nothing, in a list', [{ toJSON: () => undefined }]],
  ['a Map', new Map([['a', 1]])],
  ['a Map deep inside', { a: [{ b: new Map() }] }],
  ['a Map of another realm', runInNewContext('[new Map([[1, 2]])]')],
  ['a Set', { tags: new Set(['a']) }],
  ['a WeakMap', [new WeakMap()]],
  ['a WeakSet', [new WeakSet()]],
  ['a promise', { total: Promise.resolve(1) }],
  ['an error', { error: new Error('x') }],
  ['a regular expression', [/x/]],
  ['a typed array', { a: new Uint8Array([1]) }],
  ['an ArrayBuffer', [new ArrayBuffer(1)]],
  ['a DataView', [new DataView(new ArrayBuffer(1))]],
  ['a toJSON that gives a Map', { toJSON: () => new Map() }],
]; // prettier-ignore

/** JSON texts, kept byte for byte: what a parser makes of them is the handler's matter. */
export const jsonTexts: readonly string[] = [
  '0', '-0', '0.0', '-0.0', '0e0', '0E+0', '0e-0', '1', '1.0', '1.00', '1e0', '1E0', '1e+1', '1e-1', '1E+01', '123e65', '0.1e1', '-1.5e-3',
  '1e308', '1.7976931348623157e308', '1.7976931348623158e308', '1.7976931348623159e308', '1e309', '-1e400', '5e-324', '4.9e-324', '2e-324', '1e-400',
  '9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807', '9223372036854775808', '18446744073709551616', '100000000000000000000000',
  '0.1000000000000000055511151231257827021181583404541015625', '3.141592653589793238462643383279', `${'9'.repeat(5000)}`, `0.${'0'.repeat(5000)}1`, `1e${'0'.repeat(100)}1`, `1.${'0'.repeat(3000)}`,
  'null', 'true', 'false', '""', '[]', '{}', ' null', 'null ', '\n\t\r null\n', '[ ]', '{ }', '[\n1\t,\r2 ]', ' [1 , 2 , 3 ] ', '{ "a" : 1 }', '{"a":1,"b":2,"a":3}', '{"a":1,"a":1}', '{"":0}', '{"":0,"":1}',
  '{"b":1,"a":2}', '{"10":1,"9":2,"1":3}', '{"__proto__":1}', '{"__proto__":null,"__proto__":{}}', '{"constructor":{"prototype":{}}}', '{"toJSON":1}', '{"then":{}}', '{"length":-1}', '{"$type":"x"}', '{"@type":"x"}',
  '"\\u0041"', '"\\u00e9"', '"e\\u0301"', '"é"', '"\\/"', '"/"', '"\\b\\f\\n\\r\\t"', '"\\"\\\\"', '"\\u0000"', '"\\u0000\\u0001"', '"\\uD800"', '"\\ud800"', '"\\uDC00\\uD800"', '"\\uD83D\\uDE00"', '"😀"', '"\\uFEFF"', '"\ufeff"', '"\u2028\u2029"', '"\\u2028"', '"\u007f\u0080"', '"\uffff\u{10ffff}"', '"\\u005C"', '"\\\\u0000"', '"\\\\\\u0000"',
  `"'"`, '"$1 ? :a @b"', '"%s"', '"\\\'"'.replace("\\'", "'"), '"; drop table durable_job; --"', '[null,true,false,0,"",[],{}]', '[[[[[[]]]]]]', '{"a":{"b":{"c":{}}}}', `[${'1,'.repeat(10_000)}1]`, `{${Array.from({ length: 5000 }, (_, index) => `"${index}":${index}`).join()}}`,
  deep(5000, '[', ']'), deep(5000, '{"a":', '}'), deep(100_000, '[', ']'), `"${'\\u0000'.repeat(10_000)}"`, `"${'x'.repeat(999_998)}"`,
]; // prettier-ignore

export const brokenJsonTexts: readonly string[] = [
  '', ' ', '\n', '\ufeff', '\ufeff1', '1\ufeff', '\u00a01', '1\u2028', '\v1', '\f1', '1\0', '\0', 'nul', 'NULL', 'Null', 'True', 'undefined', 'NaN', 'Infinity', '-Infinity', '-', '+1', '.5', '5.', '01', '-01', '00', '1e', '1e+', '1.e1', '0x1', '0b1', '1_0', '1n', '1 2', '١', '１',
  '"', '"a', `'a'`, '`a`', '"\n"', '"\t"', '"\u0001"', '"\\"', '"\\x41"', '"\\u"', '"\\u00"', '"\\u00g0"', '"\\U0041"', '"\\\'"', '"\\0"', '"\\\n"', '"a" "b"', '“a”',
  '[', ']', '[1', '[1,', '[1,]', '[,1]', '[,]', '[1 2]', '[1:2]', '[1}', '[[]', '[]]', '["a]', '[...a]', '{', '}', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{,}', '{a:1}', `{'a':1}`, '{1:1}', '{"a" 1}', '{"a"::1}', '{"a":1 "b":2}', '{"a":1]', '{[]:1}', '{"a"}', '{null:1}',
  '// 1', '1 // one', '/* */ 1', '# 1', '<a/>', 'a: 1', 'function(){}', '()', '1;', '[1]\n[2]', '{}{}', deep(100_000, '[', ''), 'new Date()', `${'['.repeat(10)}${']'.repeat(11)}`,
]; // prettier-ignore

function deepList(depth: number): unknown {
  let list: unknown = [];
  for (let level = 0; level < depth; level++) {
    list = [list];
  }

  return list;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();

  return proxy;
}
