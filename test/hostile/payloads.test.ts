import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { defineJob } from '../../src/core/definition.ts';
import { InvalidSubmissionError } from '../../src/core/errors.ts';
import type { Submission } from '../../src/core/submission.ts';
import { forEachStore, openHost, runAll, type Host } from './host.ts';
import { brokenJsonTexts, jsonTexts, lostValues, plainValues, refusedValues, writtenValues } from './values.ts';

const taking = defineJob<unknown>()({ name: 'taking' });
const doing = defineJob<number>()({ name: 'doing', retry: false });

const written = [
  ...plainValues.map(([title, value]) => [title, value, JSON.stringify(value)] as const),
  ...writtenValues,
];

describe('before anything is sent', () => {
  test.each([...refusedValues, ...lostValues])('%s is refused, as the payload that it is', (_, value) => {
    const create = () => taking.create(value);

    expect(create).toThrow(InvalidSubmissionError);
    expect(create).toThrow(expect.objectContaining({ field: 'payload' }));
  });

  test.each(brokenJsonTexts.map(text => [JSON.stringify(text).slice(0, 60), text] as const))(
    'the text %s is refused, as it is no JSON',
    (_, text) => {
      expect(() => taking.createFromJson(text)).toThrow(
        expect.objectContaining({ code: 'INVALID_SUBMISSION', field: 'payload', rule: 'be JSON text' }),
      );
    },
  );

  test.each(writtenValues)('%s is written as JSON has it', (_, value, json) => {
    expect(taking.create(value).payload).toBe(json);
  });
});

forEachStore(kind => {
  let host: Host;
  beforeAll(async () => void (host = await openHost(kind)));
  afterAll(() => host.close());

  test('a payload comes to its handler as it was: deeply equal, and its text byte for byte', async () => {
    const submissions = [
      ...written.map(([, value], index) => taking.create(value, { id: `value-${index}` })),
      ...jsonTexts.map((text, index) => taking.createFromJson(text, { id: `text-${index}` })),
    ];
    const given = new Map<string, { payload: unknown; payloadText: string }>();
    const handler = host.jobs.handler(taking, ({ id, payload, payloadText }) => {
      given.set(id, { payload, payloadText });
    });

    await submitAll(host, submissions);
    await runAll(host, [handler], submissions.length);
    const again = await submitAll(host, submissions);

    expect(again.filter(({ matched }) => matched !== 'identity')).toEqual([]);
    expect(submissions.filter(({ id, payload }) => given.get(id)?.payloadText !== payload).map(({ id }) => id)).toEqual(
      [],
    );
    const changed = plainValues.filter(([, value], index) => {
      return !isDeepStrictEqual(given.get(`value-${index}`)?.payload, value);
    });
    expect(changed.map(([title]) => title)).toEqual([]);
    expect(written.map((_, index) => given.get(`value-${index}`)?.payloadText)).toEqual(
      written.map(([, , json]) => json),
    );
    expect(jsonTexts.map((_, index) => given.get(`text-${index}`)?.payloadText)).toEqual(jsonTexts);
    const misread = jsonTexts.filter((text, index) => {
      // Comparing is recursive, and no stack has room for the deepest ones.
      return text.length < 10_000 && !isDeepStrictEqual(given.get(`text-${index}`)?.payload, JSON.parse(text));
    });
    expect(misread).toEqual([]);
  });

  test('texts that are equal as JSON, and not byte for byte, are different requests', async () => {
    const pairs = [
      ['1', '1.0'], ['1', '1e0'], ['0', '-0'], ['1e400', '1e500'], ['9007199254740992', '9007199254740993'], ['[1]', '[1 ]'],
      ['{"a":1,"b":2}', '{"b":2,"a":1}'], ['{"a":1}', '{"a":1,"a":1}'], ['"A"', '"\\u0041"'], ['"/"', '"\\/"'], ['"é"', '"e\\u0301"'],
    ]; // prettier-ignore
    await submitAll(
      host,
      pairs.map(([first], index) => taking.createFromJson(first!, { id: `pair-${index}` })),
    );

    for (const [index, [, second]] of pairs.entries()) {
      await expect(host.jobs.submit(taking.createFromJson(second!, { id: `pair-${index}` }))).rejects.toMatchObject({
        code: 'JOB_IDENTITY_CONFLICT',
        differences: [{ field: 'payload' }],
      });
    }
  });

  test('what was done once gives what JSON makes of it, at once and later; what is no JSON fails its job', async () => {
    const done = new Map<number, unknown>();
    const lost = lostValues.map(([title, value]) => [title, value, JSON.stringify(value)] as const);
    const small = [...written, ...lost].filter(([, , json]) => json.length < 10_000);
    const losing = refusedValues.filter(([, value]) => value !== undefined);
    const results = [...small.map(([, value]) => value), ...losing.map(([, value]) => value)];
    const handler = host.jobs.handler(doing, async job => {
      const result = results[job.payload];
      const isSmall = job.payload < small.length;
      // In a list, for a function that returned a promise or what has a `then` would wait for it.
      const first = await job.once('work', { ttl: '1h' }, async () => (isSmall ? [result] : result));
      const second = await job.once('work', { ttl: '1h' }, () => Promise.reject(new Error('worked twice')));
      done.set(job.payload, [first, second]);
    });
    await submitAll(
      host,
      results.map((_, index) => doing.create(index, { id: `once-${index}`, scope: `once ${index}` })),
    );

    await runAll(host, [handler], results.length);

    const changed = small.filter(([, , json], index) => {
      const expected = [JSON.parse(json) as unknown];
      return !isDeepStrictEqual(done.get(index), [expected, expected]);
    });
    expect(changed.map(([title]) => title)).toEqual([]);
    for (const [index, [title]] of losing.entries()) {
      const job = await host.jobs.scope(`once ${small.length + index}`).get(`once-${small.length + index}`);
      expect([title, job?.state]).toEqual([title, 'failed']);
      if (!isRejection(title)) expect([title, job?.failureReason]).toEqual([title, 'result_invalid']);
    }
  });
});

/** An asynchronous function can't return these: the language makes an error of them before anybody sees them. */
function isRejection(title: string): boolean {
  return title === 'a revoked proxy' || title === 'a proxy whose traps throw';
}

async function submitAll({ jobs }: Host, submissions: readonly Submission[]) {
  return jobs.submit(submissions);
}
