import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { JobsEvent } from '../../src/core/events.ts';
import type { JobSnapshot } from '../../src/core/snapshot.ts';
import type { Submission } from '../../src/core/submission.ts';
import { forEachStore, openHost, runAll, type Host } from './host.ts';
import { allStorableTexts as texts, noTexts, storableTexts, unstorableTexts } from './texts.ts';

const refused = defineJob<unknown>()({ name: 'refused' });
const keyed = defineJob<unknown>()({ name: 'keyed' });
const failing = defineJob<number>()({ name: 'failing', retry: false });

/** The text where it fits, else the stand-in. */
const fitted = (text: string, max: number, standIn: string) => (text === '' || text.length > max ? standIn : text);

/** One definition for each text that may be a name. */
const definitions = texts.map((text, index) =>
  defineJob<unknown>()({
    name: fitted(text, 255, `name ${index}`),
    version: fitted(text, 64, `version ${index}`),
  }),
);

const placed = texts.map((text, index) => ({
  id: 'the same in every scope',
  scope: text,
  queue: fitted(text, 255, `queue ${index}`),
  uniqueKey: fitted(text, 255, `key ${index}`),
  metadata: ownMember(fitted(text, 10_000, 'label'), fitted(text, 10_000, 'value')),
  payload: ownMember(text, [text, ownMember('nested', text)]),
}));

test('the table has hundreds of texts, in many categories, and none that is not well-formed', () => {
  expect(Object.keys(storableTexts).length).toBeGreaterThan(25);
  expect(texts.length).toBeGreaterThan(600);
  expect(texts.filter(text => text.includes('\0') || !text.isWellFormed())).toEqual([]);
  expect(unstorableTexts.filter(text => !text.includes('\0') && text.isWellFormed())).toEqual([]);
});

forEachStore(kind => {
  let host: Host;
  beforeAll(async () => void (host = await openHost(kind)));
  afterAll(() => host.close());

  test('each text is its own scope, queue, name, version, unique key, label and payload, and comes back code unit for code unit', async () => {
    const submissions = placed.map(({ payload, id, ...options }, index) => {
      return definitions[index]!.create(payload, { ...options, id: id.replaceAll(' ', '-') });
    });

    const results = await inBatches(submissions, batch => host.jobs.submit(batch));
    const again = await inBatches(submissions, batch => host.jobs.submit(batch));

    expect(results.filter(({ created }) => !created).map(({ job }) => job.scope)).toEqual([]);
    expect(again.filter(({ matched }) => matched !== 'identity').map(({ job }) => job.scope)).toEqual([]);
    const expected = placed.map((_, index) => said(index));
    expect(results.map(({ job }) => saidBy(job))).toEqual(expected);
    expect(await Promise.all(texts.map(gotten))).toEqual(expected);
    expect(byScope(await listed())).toEqual(byScope(expected));
    const { details } = await host.jobs.admin.counts();
    expect(new Set(details.map(({ queue, name, version }) => JSON.stringify([queue, name, version])))).toEqual(
      new Set(expected.map(({ queue, name, version }) => JSON.stringify([queue, name, version]))),
    );
    for (const { scope, queue, name } of everyFifth(expected)) {
      const counted = await host.jobs.admin.counts({ scope, queues: [queue], names: [name] });
      const listed = await host.jobs.admin.list({ names: [name] });
      expect([scope, counted.total, listed.jobs.map(saidBy)]).toEqual([scope, 1, [expect.objectContaining({ scope })]]);
    }
  });

  test('its handler is given exactly that, and progress, results and what was done once come back in the same way', async () => {
    const given: unknown[] = [];
    const done: unknown[] = [];
    const handlers = definitions.map((definition, index) => {
      const text = texts[index]!;
      return host.jobs.handler(definition, async job => {
        const { scope, queue, name, version, metadata, payload, payloadText } = job;
        given[index] = { scope, queue, name, version, metadata, payload, payloadText };
        job.progress(50, text);
        const key = fitted(text, 255, 'a key');
        done[index] = [
          await job.once(key, { ttl: '1h' }, async () => ownMember(text, text)),
          await job.once(key, { ttl: '1h' }, () => Promise.reject(new Error('worked twice'))),
        ];
        return fitted(text, 2048, `result ${index}`);
      });
    });

    await runAll(host, handlers, texts.length);

    const jobs = await Promise.all(texts.map(scope => host.jobs.scope(scope).get('the-same-in-every-scope')));
    const attempts = await Promise.all(texts.map(scope => host.jobs.scope(scope).attempts('the-same-in-every-scope')));
    expect(jobs.filter(job => job?.state !== 'succeeded')).toEqual([]);
    expect(given).toEqual(
      placed.map(({ payload, metadata }, index) => ({
        ...said(index),
        metadata,
        payload,
        payloadText: JSON.stringify(payload),
      })),
    );
    expect(done).toEqual(texts.map(text => [ownMember(text, text), ownMember(text, text)]));
    const ends = texts.map((text, index) => [fitted(text, 2048, `result ${index}`), cut(text, 1024)]);
    expect(jobs.map(job => [job?.resultRef, job?.progressMessage])).toEqual(ends);
    expect(attempts.map(([attempt]) => [attempt?.resultRef, attempt?.progressMessage])).toEqual(ends);
    for (const event of ['job_staged', 'attempt_started', 'attempt_settled'] as const) {
      const told = host.events.filter(each => each.event === event) as JobsEvent<'job_staged'>[];
      expect(byScope(told.map(saidBy))).toEqual(byScope(texts.map((_, index) => said(index))));
    }
  });

  test('each text is a unique key of its own: no case, no form, no trailing space is folded', async () => {
    const keys = texts.filter(text => text !== '' && text.length <= 255);
    const submissions = (prefix: string) =>
      keys.map((uniqueKey, index) => keyed.create(0, { id: `${prefix}-${index}`, scope: 'keys', uniqueKey }));

    const first = await inBatches(submissions('first'), batch => host.jobs.submit(batch));
    const second = await inBatches(submissions('second'), batch => host.jobs.submit(batch));

    expect(first.filter(({ created }) => !created).map(({ job }) => job.uniqueKey)).toEqual([]);
    expect(second.map(({ matched, job }) => [matched, job.id, job.uniqueKey])).toEqual(
      keys.map((key, index) => ['uniqueKey', `first-${index}`, key]),
    );
  });

  test('a recurring job keeps each of them for the jobs that it makes', async () => {
    await host.jobs.store.register({ id: 'starter', name: 'n', host: 'h', leaseUntil: null, metadata: {} });
    for (const { scope, queue, name, version, index } of everyFifth(
      texts.map((_, index) => ({ ...said(index), index })),
    )) {
      const { payload, metadata } = placed[index]!;
      const { recurring } = host.jobs.scope(scope);
      const job = definitions[index]!.create(payload, { scope, queue, metadata });
      await recurring.upsert('daily', { cron: '0 3 * * *', job });

      const made = (await recurring.runNow('daily'))!;
      const started = await host.jobs.store.tryStart({ scope, id: made.id }, 'starter');

      expect(await recurring.get('daily')).toMatchObject({ scope, queue, name, version });
      expect({ ...saidBy(made), metadata: made.metadata }).toEqual({ scope, queue, name, version, metadata });
      expect(started?.payload).toBe(JSON.stringify(payload));
    }
  });

  test('as the message of an error, the reason of a cancel and the name of an operator it comes back whole', async () => {
    const control = host.jobs.scope('people');
    await inBatches(
      texts.map((_, index) => failing.create(index, { id: `f-${index}`, scope: 'people' })),
      batch => host.jobs.submit(batch),
    );
    const throwing = host.jobs.handler(failing, async ({ payload }) => {
      throw Object.assign(new Error(texts[payload]), { stack: undefined });
    });

    await runAll(host, [throwing], texts.length);
    const told = new Map(settledIn(host, 'people').map(({ id, error }) => [id, error]));
    for (const [index, text] of texts.entries()) {
      const id = `f-${index}`;
      const isShort = Buffer.byteLength(text) <= 1024;
      const actor = fitted(text, 255, 'ann');
      const failed = await control.get(id);
      const [attempt] = await control.attempts(id);
      await control.resurrect(id, { actor });
      await control.cancel(id, { actor, ...(isShort && { reason: text }) });
      const cancelled = await control.get(id);

      const error = text.length > 4096 ? expect.stringContaining(' … ') : `Error: ${text || '(no message)'}`;
      expect([failed?.lastError, attempt?.error, told.get(id)]).toEqual([error, attempt?.error, attempt?.error]);
      expect(attempt?.error).toEqual(error);
      expect(cancelled).toMatchObject({ state: 'cancelled', changedBy: actor, cancelReason: isShort ? text : null });
    }
  });

  test('queues are paused and capped by their exact names, and only those', async () => {
    const queues = texts.filter(text => text !== '' && text.length <= 255).slice(0, 150);
    for (const queue of queues) await host.jobs.queues.limit(queue, 3, { actor: queue });

    const settings = await host.jobs.queues.list();

    expect(new Map(settings.map(({ name, maxRunning, changedBy }) => [name, [maxRunning, changedBy]]))).toEqual(
      new Map(queues.map(queue => [queue, [3, queue]])),
    );
  });

  test.each([
    ...unstorableTexts.map(text => [JSON.stringify(text).slice(0, 30), text] as const),
    ...(noTexts as ReadonlyArray<readonly [string, string]>),
  ])('%s is refused by name wherever a text is asked for, before anything is sent', async (_, text) => {
    const control = host.jobs.scope('');
    const unused = host.jobs.handler(refused, () => {});
    const create = (options: object) => () => void refused.create(0, { id: 'a', ...options });
    const places: Array<[field: string, call: () => unknown]> = [
      ['scope', create({ scope: text })],
      ['id', create({ id: text })],
      ['queue', create({ queue: text })],
      ['uniqueKey', create({ uniqueKey: text })],
      ['metadata', create({ metadata: { label: text } })],
      ['payload', () => refused.createFromJson(typeof text === 'string' ? `"${text}"` : text)],
      ['name', () => defineJob()({ name: text })],
      ['version', () => defineJob()({ name: 'a', version: text })],
      ['queue', () => defineJob()({ name: 'a', queue: text })],
      ['scope', () => host.jobs.scope(text)],
      ['id', () => control.get(text)],
      ['id', () => control.attempts(text)],
      ['id', () => control.cancel(text)],
      ['reason', () => control.cancel('a', { reason: text })],
      ['actor', () => control.cancel('a', { actor: text })],
      ['actor', () => control.retry('a', { actor: text })],
      ['actor', () => control.runNow('a', { actor: text })],
      ['actor', () => control.resurrect('a', { actor: text })],
      ['queue', () => control.resurrect('a', { queue: text })],
      ['names', () => control.list({ names: [text] })],
      ['queues', () => control.counts({ queues: [text] })],
      ['recurringId', () => control.list({ recurringId: text })],
      ['name', () => host.jobs.queues.pause(text)],
      ['actor', () => host.jobs.queues.pause('a', { actor: text })],
      ['scope', () => host.jobs.admin.list({ scope: text })],
      ['actor', () => host.jobs.deadLetters.retry({}, { limit: 1, actor: text })],
      ['queue', () => host.jobs.deadLetters.list({ queue: text })],
      ['id', () => host.jobs.recurring.pause(text)],
      ['queues', () => host.jobs.executor({ handlers: [unused], queues: [text] })],
      ['name', () => host.jobs.executor({ handlers: [unused], name: text ?? '' })],
    ];
    const sentBefore = host.statements.length;

    const errors = await Promise.all(places.map(([, call]) => errorOf(call)));

    expect(errors.map(error => error.field ?? error.option)).toEqual(places.map(([field]) => field));
    expect(errors.filter(({ code }) => code !== 'INVALID_SUBMISSION' && code !== 'INVALID_OPTION')).toEqual([]);
    expect(host.statements.slice(sentBefore)).toEqual([]);
  });

  test('a label whose name no column holds is refused', () => {
    for (const text of unstorableTexts) {
      expect(() => refused.create(0, { metadata: ownMember(text, 'x') })).toThrow('`metadata`');
    }
  });

  test('what no column holds is replaced visibly in errors and progress, and is no result and no key', async () => {
    const control = host.jobs.scope('odd');
    const keyErrors: unknown[] = [];
    await host.jobs.submit(
      unstorableTexts.flatMap((_, index) => [
        failing.create(index, { id: `error-${index}`, scope: 'odd' }),
        failing.create(index, { id: `result-${index}`, scope: 'odd' }),
      ]),
    );
    const handler = host.jobs.handler(failing, async job => {
      const text = unstorableTexts[job.payload]!;
      job.progress(50, text);
      await job.once(text, { ttl: '1h' }, async () => 1).catch(({ option }) => keyErrors.push(option));
      if (job.id.startsWith('result')) return text;
      throw Object.assign(new Error(text), { name: text, stack: text, cause: text });
    });

    await runAll(host, [handler], 2 * unstorableTexts.length);

    expect(keyErrors).toEqual(Array.from({ length: 2 * unstorableTexts.length }, () => 'key'));
    for (const [index, text] of unstorableTexts.entries()) {
      const clean = text.toWellFormed().replaceAll('\0', '\ufffd');
      const [error, result] = [await control.get(`error-${index}`), await control.get(`result-${index}`)];
      expect(error).toMatchObject({
        state: 'failed',
        progressMessage: clean,
        lastError: expect.stringContaining(clean),
      });
      expect(result).toMatchObject({ state: 'failed', failureReason: 'result_invalid', resultRef: null });
    }
  });

  async function gotten(scope: string) {
    return saidBy((await host.jobs.scope(scope).get('the-same-in-every-scope'))!);
  }

  async function listed() {
    const jobs: JobSnapshot[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await host.jobs.admin.list({}, { limit: 150, ...(cursor !== undefined && { cursor }) });
      jobs.push(...page.jobs);
      if (page.next === null) return jobs.map(saidBy);
      cursor = page.next;
    }
  }
});

/** Where each takes a statement of its own. */
function everyFifth<T>(items: readonly T[]): T[] {
  return items.filter((_, index) => index % 5 === 0);
}

function said(index: number) {
  const { name, version } = definitions[index]!;
  const { scope, queue } = placed[index]!;

  return { scope, queue, name, version };
}

function saidBy({ scope, queue, name, version }: Pick<JobSnapshot, 'scope' | 'queue' | 'name' | 'version'>) {
  return { scope, queue, name, version };
}

function byScope<T extends { scope: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map(item => [item.scope, item]));
}

function settledIn({ events }: Host, scope: string): JobsEvent<'attempt_settled'>[] {
  return events.filter(each => each.event === 'attempt_settled' && each.scope === scope) as never;
}

/** An object with this one member of its own, also where a literal would set a prototype. */
function ownMember(key: string, value: unknown): Record<string, never> {
  return Object.fromEntries([[key, value]]) as Record<string, never>;
}

/** As a message of progress is cut: to so many bytes, at the boundary of a character. */
function cut(text: string, maxBytes: number): string {
  let kept = '';
  let bytes = 0;
  for (const char of text) {
    bytes += Buffer.byteLength(char);
    if (bytes > maxBytes) break;
    kept += char;
  }

  return kept;
}

async function inBatches<T>(
  submissions: readonly Submission[],
  send: (batch: readonly Submission[]) => Promise<T[]>,
): Promise<T[]> {
  const results: T[] = [];
  for (let start = 0; start < submissions.length; start += 500) {
    results.push(...(await send(submissions.slice(start, start + 500))));
  }

  return results;
}

async function errorOf(call: () => unknown): Promise<{ code?: string; field?: string; option?: string }> {
  try {
    await call();
    return {};
  } catch (error) {
    return error as object;
  }
}
