import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineJob, type DefinitionOptions } from '../../src/core/definition.ts';
import { InvalidOptionError } from '../../src/core/errors.ts';

const define = (options: unknown) => defineJob<unknown>()(options as DefinitionOptions<string>);
const text = (length: number) => 'x'.repeat(length);

test('a definition says its name, version, timeout and retry policy, and is frozen', () => {
  const definition = defineJob<{ id: string }>()({ name: 'mail.send', version: '2', timeout: '30s', retry: false });

  expect(definition).toMatchObject({ name: 'mail.send', version: '2', timeoutMs: 30_000, retryPolicy: false });
  expect(Object.isFrozen(definition)).toBe(true);
});

test('without a version it is the first, without a timeout it has none', () => {
  expect(define({ name: 'mail.send' })).toMatchObject({
    version: '1', timeoutMs: null, retryPolicy: { baseMs: 2000, factor: 2, capMs: 600_000, jitter: 0.2, lifetimeMs: null },
  }); // prettier-ignore
});

test('an option that is undefined is one that is left out', () => {
  const options = {
    name: 'a', version: undefined, queue: undefined, priority: undefined, maxAttempts: undefined, retry: undefined, timeout: undefined, onInterrupt: undefined,
  }; // prettier-ignore
  const id = 'same';

  expect({ ...define(options).create({}, { id }) }).toEqual({ ...define({ name: 'a' }).create({}, { id }) });
});

test('changing the options afterwards changes nothing', () => {
  const options = { name: 'a', queue: 'mail', retry: { base: '1s' as const } };
  const definition = define(options);

  Object.assign(options, { name: 'b', queue: 'bulk' });
  Object.assign(options.retry, { base: '5s' });

  expect(definition.create({})).toMatchObject({ name: 'a', queue: 'mail' });
  expect(definition.retryPolicy).toMatchObject({ baseMs: 1000 });
});

test('its functions can be passed around', () => {
  const { create, createFromJson, parse } = define({ name: 'a' });

  expect([create({}).name, createFromJson('1').name, parse('1')]).toEqual(['a', 'a', 1]);
});

test.each<[string, object]>([
  ['a name of 1 character', { name: 'x' }],
  ['a name of 255 characters', { name: text(255) }],
  ['a name in any script', { name: '发送 🏭' }],
  ['a name called __proto__', { name: '__proto__' }],
  ['a name called constructor', { name: 'constructor' }],
  ['a version of 64 characters', { name: 'a', version: text(64) }],
])('%s is taken', (_, options) => {
  const definition = define(options);

  expect(definition).toMatchObject(options);
  expect(definition.create({})).toMatchObject({ name: definition.name, version: definition.version });
});

test.each<[string, string, unknown]>([
  ['no name', 'name', {}],
  ['an empty name', 'name', { name: '' }],
  ['a name of 256 characters', 'name', { name: text(256) }],
  ['a name with NUL', 'name', { name: 'a\u0000' }],
  ['a name with a lone surrogate', 'name', { name: '\ud800' }],
  ['a name that is no text', 'name', { name: 5 }],
  ['an empty version', 'version', { name: 'a', version: '' }],
  ['a version of 65 characters', 'version', { name: 'a', version: text(65) }],
  ['a version that is no text', 'version', { name: 'a', version: 2 }],
  ['a version of null', 'version', { name: 'a', version: null }],
  ['a queue of 256 characters', 'queue', { name: 'a', queue: text(256) }],
  ['a priority that is no number', 'priority', { name: 'a', priority: 'high' }],
  ['no attempts', 'maxAttempts', { name: 'a', maxAttempts: 0 }],
  ['a timeout of 0', 'timeout', { name: 'a', timeout: 0 }],
  ['a timeout of null', 'timeout', { name: 'a', timeout: null }],
  ['a timeout in parsecs', 'timeout', { name: 'a', timeout: '1 parsec' }],
  ['an unknown interruption', 'onInterrupt', { name: 'a', onInterrupt: 'again' }],
  ['a retry factor below 1', 'retry.factor', { name: 'a', retry: { factor: 0 } }],
  ['a misspelt option', 'maxAttempt', { name: 'a', maxAttempt: 5 }],
  ['a schema in the second call', 'schema', { name: 'a', schema: z.string() }],
  ['null', 'options', null],
  ['a name alone', 'options', 'mail.send'],
  ['nothing', 'options', undefined],
])('%s is refused as the option `%s`', (_, option, options) => {
  expect(() => define(options)).toThrow(InvalidOptionError);
  expect(() => define(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', option }));
});

describe('a definition with a schema', () => {
  test.each<[string, unknown]>([
    ['no schema', undefined],
    ['null', null],
    ['a class', class Payload {}],
    ['a JSON schema', { type: 'object' }],
    ['an object without a prototype', Object.create(null)],
    ['another version of the standard', { '~standard': { version: 2, vendor: 'x', validate: () => ({ value: 1 }) } }],
    ['no validation', { '~standard': { version: 1, vendor: 'x' } }],
  ])('refuses %s, and says what to do', (_, schema) => {
    const make = () => defineJob({ name: 'a', schema: schema as never });

    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow('expected `schema` to implement Standard Schema (zod, valibot, arktype…); without one write');
  });

  test('takes a function that is a schema, as arktype makes them', () => {
    const schema = Object.assign(() => 1, {
      '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
    });

    expect(defineJob({ name: 'a', schema }).create(5).payload).toBe('5');
  });

  test('refuses options of null', () => {
    expect(() => defineJob(null as never)).toThrow(expect.objectContaining({ option: 'options' }));
  });
});
