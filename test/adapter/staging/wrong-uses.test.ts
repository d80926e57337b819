import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineJob } from '../../../src/core/definition.ts';
import type { StandardSchema } from '../../../src/core/standard-schema.ts';
import type { Submission } from '../../../src/core/submission.ts';
import { aSubmission, sendMail } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { jobIds, sentDuring, useHost } from './host.ts';

const invoice = defineJob({ name: 'invoice.send', schema: z.object({ id: z.string() }) });
const checkedLater = defineJob({
  name: 'invoice.check',
  schema: z.object({ id: z.string() }).refine(async ({ id }) => id !== ''),
});
const schemaOf = (validate: (value: unknown) => unknown) =>
  defineJob({
    name: 'invoice.check',
    schema: { '~standard': { version: 1, vendor: 'test', validate } } as unknown as StandardSchema<never>,
  });
const cycle: Record<string, unknown> = {};
cycle.self = cycle;

/** Whatever TypeScript would have refused: callers from JavaScript, and values that came as `any`. */
const untyped = (options: unknown) => options as Parameters<typeof sendMail.create>[1];

const create = (options: unknown) => () => sendMail.create({}, untyped(options));
const payload = (value: unknown) => () => sendMail.create(value);
const json = (text: unknown) => () => sendMail.createFromJson(text as string);

const lone = 'x\ud800y';
const nul = 'x\u0000y';

const wrong: [title: string, field: string, make: () => unknown][] = [
  ['a scope with a lone surrogate', 'scope', create({ scope: lone })],
  ['a scope with another lone surrogate', 'scope', create({ scope: '\udc00' })],
  ['a scope with NUL', 'scope', create({ scope: nul })],
  ['a scope that is null', 'scope', create({ scope: null })],
  ['a scope that is a number', 'scope', create({ scope: 7 })],
  ['an id that is empty', 'id', create({ id: '' })],
  ['an id of 129 characters', 'id', create({ id: 'i'.repeat(129) })],
  ['an id with a space', 'id', create({ id: 'a b' })],
  ['an id with a line break at its end', 'id', create({ id: 'a\n' })],
  ['an id beyond ASCII', 'id', create({ id: 'é' })],
  ['an id with NUL', 'id', create({ id: nul })],
  ['an id with a lone surrogate', 'id', create({ id: lone })],
  ['an id that is a number', 'id', create({ id: 1 })],
  ['an id that is null', 'id', create({ id: null })],
  ['an id with a relative delay', 'delay', create({ id: 'a', delay: '30s' })],
  ['a delay beside a not-before', 'delay', create({ delay: '30s', notBefore: new Date() })],
  ['a delay that is no duration', 'delay', create({ delay: '30 parsecs' })],
  ['a delay below zero', 'delay', create({ delay: -1 })],
  ['a delay beyond a hundred years', 'delay', create({ delay: 36_526 * 86_400_000 })],
  ['a queue that is empty', 'queue', create({ queue: '' })],
  ['a queue of 256 characters', 'queue', create({ queue: 'q'.repeat(256) })],
  ['a queue with a lone surrogate', 'queue', create({ queue: lone })],
  ['a queue with NUL', 'queue', create({ queue: nul })],
  ['a unique key that is empty', 'uniqueKey', create({ uniqueKey: '' })],
  ['a unique key of 256 characters', 'uniqueKey', create({ uniqueKey: 'k'.repeat(256) })],
  ['a unique key with a lone surrogate', 'uniqueKey', create({ uniqueKey: lone })],
  ['a unique key with NUL', 'uniqueKey', create({ uniqueKey: nul })],
  ['a priority with a fraction', 'priority', create({ priority: 0.5 })],
  ['a priority beyond 32 bits', 'priority', create({ priority: 2 ** 31 })],
  ['a priority that is NaN', 'priority', create({ priority: NaN })],
  ['no attempts', 'maxAttempts', create({ maxAttempts: 0 })],
  ['an attempt and a half', 'maxAttempts', create({ maxAttempts: 1.5 })],
  ['NaN attempts', 'maxAttempts', create({ maxAttempts: NaN })],
  ['endless attempts', 'maxAttempts', create({ maxAttempts: Infinity })],
  ['attempts as text', 'maxAttempts', create({ maxAttempts: '3' })],
  ['a not-before that is invalid', 'notBefore', create({ notBefore: new Date(NaN) })],
  ['a not-before before 1970', 'notBefore', create({ notBefore: new Date(-1) })],
  ['a not-before after 2255', 'notBefore', create({ notBefore: new Date(Date.UTC(2255, 0, 1) + 1) })],
  ['a not-before as text', 'notBefore', create({ notBefore: '2030-01-01' })],
  ['a timeout of nothing', 'timeout', create({ timeout: 0 })],
  ['a timeout beyond what timers can', 'timeout', create({ timeout: '25d' })],
  ['a retry policy with a bad factor', 'retry.factor', create({ retry: { factor: 0 } })],
  ['a retry policy with a bad duration', 'retry.base', create({ retry: { base: '2 s' } })],
  ['an onInterrupt of another word', 'onInterrupt', create({ onInterrupt: 'retry' })],
  ['metadata that is a list', 'metadata', create({ metadata: ['a'] })],
  ['metadata with a number', 'metadata', create({ metadata: { a: 1 } })],
  ['metadata with a lone surrogate in a key', 'metadata', create({ metadata: { [lone]: 'a' } })],
  ['metadata with NUL in a value', 'metadata', create({ metadata: { a: nul } })],
  ['metadata above 64 KiB', 'metadata', create({ metadata: { a: 'x'.repeat(65_536) } })],
  ['a misspelt option', 'uniqeKey', create({ uniqeKey: 'key-1' })],
  ['options that are null', 'options', create(null)],
  ['a payload that is undefined', 'payload', payload(undefined)],
  ['a payload that is a function', 'payload', payload(() => {})],
  ['a payload that is a symbol', 'payload', payload(Symbol('a'))],
  ['a payload that is NaN', 'payload', payload(NaN)],
  ['a payload with NaN inside', 'payload', payload({ a: [NaN] })],
  ['a payload with Infinity inside', 'payload', payload({ a: { b: -Infinity } })],
  ['a payload with a BigInt', 'payload', payload({ a: 1n })],
  ['a payload with a cycle', 'payload', payload(cycle)],
  ['a payload with an invalid Date', 'payload', payload({ at: new Date(NaN) })],
  [
    'a payload whose toJSON throws',
    'payload',
    payload({
      toJSON: () => {
        throw new Error('no');
      },
    }),
  ],
  ['a payload of 1,000,001 bytes', 'payload', payload('x'.repeat(999_999))],
  ['a payload of 1,000,001 bytes in fewer characters', 'payload', payload('é'.repeat(499_999) + 'x')],
  ['raw JSON that is cut off', 'payload', json('{"a":')],
  ['raw JSON that is empty', 'payload', json('')],
  ['raw JSON that is NaN', 'payload', json('NaN')],
  ['raw JSON that is an object', 'payload', json({ a: 1 })],
  ['raw JSON with a lone surrogate', 'payload', json('"\ud800"')],
  ['raw JSON of 1,000,001 bytes', 'payload', json(`"${'x'.repeat(999_999)}"`)],
  ['a payload that does not fit its schema', 'payload', () => invoice.create({ id: 1 } as never)],
  ['raw JSON that does not fit its schema', 'payload', () => invoice.createFromJson('{"id":1}')],
  ['a schema that answers later', 'schema', () => checkedLater.create({ id: 'a' })],
  [
    'a schema that answers with something to wait for',
    'schema',
    () => schemaOf(() => ({ then: () => {} })).create({} as never),
  ],
  [
    'a schema that throws',
    'payload',
    () =>
      schemaOf(() => {
        throw new Error('no');
      }).create({} as never),
  ],
  ['an object in place of a submission', 'submission', () => ({ ...aSubmission() })],
  ['a definition in place of a submission', 'submission', () => sendMail],
  [
    'an object that stands on a submission',
    'submission',
    () => Object.create(aSubmission(), { payload: { value: '1' } }),
  ],
  ['a submission that went through JSON', 'submission', () => JSON.parse(JSON.stringify(aSubmission()))],
  ['null in place of a submission', 'submission', () => null],
  ['a text in place of a submission', 'submission', () => 'mail.send'],
];

forEachDriver(driver => {
  const host = useHost(driver);

  test.each(wrong)('%s is refused as `%s`, before any SQL', async (_title, field, make) => {
    const refused = { code: 'INVALID_SUBMISSION', field, name: 'InvalidSubmissionError' };

    const sent = await sentDuring(host, async () => {
      await expect((async () => host.jobs.submit(make() as Submission))()).rejects.toMatchObject(refused);
      await expect((async () => host.jobs.submit([aSubmission(), make() as Submission]))()).rejects.toMatchObject(
        refused,
      );
    });

    expect(sent).toEqual([]);
    expect(await jobIds(host)).toEqual([]);
  });

  test('a batch with one thing that is no submission is refused by stage() before any SQL', async () => {
    await host.orm.em.fork().transactional(async em => {
      const sent = await sentDuring(host, async () => {
        await expect(host.jobs.stage(em, [aSubmission(), {} as Submission])).rejects.toMatchObject({
          code: 'INVALID_SUBMISSION',
          field: 'submission',
        });
      });

      expect(sent).toEqual([]);
    });

    expect(await jobIds(host)).toEqual([]);
  });

  test('what is just within the limits is stored as it is', async () => {
    const astral = '\u{1f600}'.repeat(127) + 'x';
    const definition = defineJob<unknown>()({ name: 'n'.repeat(255), version: 'v'.repeat(64) });
    const submission = definition.create('é'.repeat(499_999), {
      id: '~'.repeat(128),
      scope: 's'.repeat(10_000),
      queue: astral,
      uniqueKey: astral,
      priority: -(2 ** 31) + 1,
      maxAttempts: 1_000_000,
      notBefore: new Date(Date.UTC(2255, 0, 1)),
      timeout: 2_147_483_647,
      metadata: { a: 'x'.repeat(65_528) },
    });

    await host.jobs.submit(submission);

    const again = await host.jobs.submit(submission);
    expect(again).toMatchObject({
      matched: 'identity',
      job: {
        id: '~'.repeat(128),
        name: 'n'.repeat(255),
        version: 'v'.repeat(64),
        queue: astral,
        uniqueKey: astral,
        priority: -(2 ** 31) + 1,
        maxAttempts: 1_000_000,
        notBefore: new Date(Date.UTC(2255, 0, 1)),
      },
    });
    expect(Buffer.byteLength(submission.payload)).toBe(1_000_000);
    const [row] = await host.orm.em.execute('select payload, timeout_ms, metadata from durable_job');
    expect(row?.payload === submission.payload).toBe(true);
    expect(row).toMatchObject({ timeout_ms: 2_147_483_647, metadata: JSON.stringify(submission.metadata) });
  });
});
