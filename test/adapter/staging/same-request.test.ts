import { describe, expect, test } from '@jest/globals';
import { defineJob } from '../../../src/core/definition.ts';
import type { Submission, SubmissionOptions } from '../../../src/core/submission.ts';
import type { StageResult } from '../../../src/core/snapshot.ts';
import { aSubmission } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { jobIds, useHost, type Host } from './host.ts';

const notBefore = new Date('2031-05-01T12:00:00.123Z');
const charge = defineJob<unknown>()({ name: 'card.charge', version: '1' });
const payload = { card: 'secret-1234', cents: 1 };
const request = (): Submission =>
  charge.create(payload, { id: 'job-1', scope: 'acme', queue: 'cards', maxAttempts: 5, notBefore });

const options = { id: 'job-1', scope: 'acme', queue: 'cards', maxAttempts: 5, notBefore };
const others: { field: string; submission: () => Submission; stored?: unknown; submitted?: unknown }[] = [
  {
    field: 'name',
    submission: () => defineJob<unknown>()({ name: 'card.refund', version: '1' }).create(payload, options),
    stored: 'card.charge',
    submitted: 'card.refund',
  },
  {
    field: 'version',
    submission: () => defineJob<unknown>()({ name: 'card.charge', version: '2' }).create(payload, options),
    stored: '1',
    submitted: '2',
  },
  { field: 'payload', submission: () => charge.create({ card: 'secret-1234', cents: 2 }, options) },
  {
    field: 'queue',
    submission: () => charge.create(payload, { ...options, queue: 'Cards' }),
    stored: 'cards',
    submitted: 'Cards',
  },
  {
    field: 'maxAttempts',
    submission: () => charge.create(payload, { ...options, maxAttempts: 6 }),
    stored: 5,
    submitted: 6,
  },
  {
    field: 'notBefore',
    submission: () => charge.create(payload, { ...options, notBefore: new Date(notBefore.getTime() + 1) }),
    stored: notBefore,
    submitted: new Date(notBefore.getTime() + 1),
  },
];

const ways: { title: string; send: (host: Host, submission: Submission) => Promise<StageResult> }[] = [
  { title: 'submit()', send: ({ jobs }, submission) => jobs.submit(submission) },
  {
    title: 'stage()',
    send: ({ orm, jobs }, submission) => orm.em.fork().transactional(em => jobs.stage(em, submission)),
  },
];

forEachDriver(driver => {
  const host = useHost(driver);

  describe.each(ways)('by $title', ({ send }) => {
    test('the same request again is answered with the stored job, and changes nothing', async () => {
      const first = await send(host, request());
      host.clock.advance(60_000);

      const again = await send(host, request());

      expect(first).toMatchObject({ created: true, matched: 'none' });
      expect(again).toEqual({ created: false, matched: 'identity', job: first.job });
      expect(await jobIds(host)).toEqual(['job-1']);
    });

    test.each(others)(
      'another $field is a conflict that names it',
      async ({ field, submission, stored, submitted }) => {
        await send(host, request());
        const before = await row(host);

        const error = await send(host, submission()).catch((thrown: unknown) => thrown);

        expect(error).toMatchObject({
          name: 'JobIdentityConflictError',
          code: 'JOB_IDENTITY_CONFLICT',
          key: { scope: 'acme', id: 'job-1' },
          differences: [field === 'payload' ? { field } : { field, stored, submitted }],
          message: expect.stringMatching(new RegExp(`^Job "job-1" in scope "acme" .*${field}`)),
        });
        expect(JSON.stringify([(error as Error).message, (error as Error).stack, error])).not.toContain('secret');
        expect(await row(host)).toEqual(before);
      },
    );

    test.each<{ title: string; other: SubmissionOptions }>([
      { title: 'priority', other: { priority: 7 } },
      { title: 'metadata', other: { metadata: { by: 'someone else' } } },
      { title: 'unique key', other: { uniqueKey: 'key-1' } },
      { title: 'timeout', other: { timeout: '5s' } },
      { title: 'retry policy', other: { retry: false } },
      { title: 'onInterrupt', other: { onInterrupt: 'requeue' } },
    ])('another $title is the same request, and what is stored stays', async ({ other }) => {
      await send(host, request());
      const before = await row(host);

      const again = await send(host, charge.create(payload, { ...options, ...other }));

      expect(again).toMatchObject({ created: false, matched: 'identity' });
      expect(await row(host)).toEqual(before);
    });

    test('several differences are all named', async () => {
      await send(host, request());

      const conflict = send(host, charge.create({}, { id: 'job-1', scope: 'acme' }));

      await expect(conflict).rejects.toMatchObject({
        differences: [{ field: 'queue' }, { field: 'maxAttempts' }, { field: 'payload' }, { field: 'notBefore' }],
      });
    });

    test('no not-before and one at the instant of the creation are two requests', async () => {
      const { job } = await send(host, aSubmission({ id: 'now' }));
      await send(host, aSubmission({ id: 'then', notBefore: job.nextRunAt }));

      await expect(send(host, aSubmission({ id: 'now', notBefore: job.nextRunAt }))).rejects.toMatchObject({
        differences: [{ field: 'notBefore', stored: null, submitted: job.nextRunAt }],
      });
      await expect(send(host, aSubmission({ id: 'then' }))).rejects.toMatchObject({
        differences: [{ field: 'notBefore', stored: job.nextRunAt, submitted: null }],
      });
    });

    test('a not-before that lies in the past is kept', async () => {
      const past = new Date('1970-01-01T00:00:00.000Z');

      expect((await send(host, aSubmission({ id: 'job-1', notBefore: past }))).job).toMatchObject({
        notBefore: past,
        nextRunAt: past,
      });
      expect((await send(host, aSubmission({ id: 'job-1', notBefore: past }))).created).toBe(false);
    });

    test.each([
      { title: 'order of keys', again: '{"b":2,"a":1}' },
      { title: 'white space', again: '{"a":1, "b":2}' },
      { title: 'spelling of a number', again: '{"a":1.0,"b":2}' },
      { title: 'escaping of a character', again: '{"\\u0061":1,"b":2}' },
      { title: 'end of line', again: '{"a":1,"b":2}\n' },
    ])('another $title in the JSON text is another request', async ({ again }) => {
      await send(host, charge.createFromJson('{"a":1,"b":2}', { id: 'job-1' }));

      await expect(send(host, charge.createFromJson(again, { id: 'job-1' }))).rejects.toMatchObject({
        differences: [{ field: 'payload' }],
      });
    });

    test.each([
      { title: 'case', scopes: ['Owner', 'owner'] },
      { title: 'composition', scopes: ['caf\u00e9', 'cafe\u0301'] },
      { title: 'white space at the end', scopes: ['owner', 'owner '] },
      { title: 'being there', scopes: ['', '0'] },
      { title: 'a letter that folds to two', scopes: ['straße', 'strasse'] },
      { title: 'length beyond any column', scopes: ['s'.repeat(5000), 's'.repeat(5001)] },
    ])('scopes that differ in $title hold two jobs with one id', async ({ scopes: [a, b] }) => {
      const first = await send(host, aSubmission({ id: 'job-1', scope: a, payload: 'a' }));
      const second = await send(host, aSubmission({ id: 'job-1', scope: b, payload: 'b' }));

      expect([first.created, second.created]).toEqual([true, true]);
      expect((await host.jobs.scope(a!).get('job-1'))?.scope).toBe(a);
      expect((await host.jobs.scope(b!).get('job-1'))?.scope).toBe(b);
    });

    test('ids that differ in case are two jobs', async () => {
      await send(host, aSubmission({ id: 'A' }));

      expect(await send(host, aSubmission({ id: 'a' }))).toMatchObject({ created: true, job: { id: 'a' } });
    });

    test('the same request after a retry that moved its run time is answered with the job as it is now', async () => {
      const later = new Date('2040-01-01T00:00:00Z');
      await send(host, request());
      await host.jobs.scope('acme').cancel('job-1');
      await host.jobs.scope('acme').retry('job-1', { at: later });

      expect(await send(host, request())).toMatchObject({
        created: false,
        matched: 'identity',
        job: { state: 'queued', notBefore, nextRunAt: later },
      });
    });

    test('the same request after the job has ended is answered with the ended job', async () => {
      await send(host, request());
      await host.jobs.scope('acme').cancel('job-1', { reason: 'no longer wanted' });

      expect(await send(host, request())).toMatchObject({
        created: false,
        matched: 'identity',
        job: { state: 'cancelled', cancelReason: 'no longer wanted' },
      });
    });

    test('the same request after an operator repaired the payload is the same request, and the repaired one is not', async () => {
      await send(host, request());
      await host.orm.em.execute('update durable_job set payload_override = ?', ['{"card":"repaired"}']);

      expect(await send(host, request())).toMatchObject({ created: false, matched: 'identity' });
      await expect(send(host, charge.create({ card: 'repaired' }, options))).rejects.toMatchObject({
        differences: [{ field: 'payload' }],
      });
    });
  });

  test('the same request twice in one transaction is one job', async () => {
    const results = await host.orm.em
      .fork()
      .transactional(async em => [await host.jobs.stage(em, request()), await host.jobs.stage(em, request())]);

    expect(results.map(({ created, matched }) => [created, matched])).toEqual([
      [true, 'none'],
      [false, 'identity'],
    ]);
    expect(await jobIds(host)).toEqual(['job-1']);
  });

  test('what stage() stored, submit() finds, and the other way round', async () => {
    await host.orm.em.fork().transactional(em => host.jobs.stage(em, aSubmission({ id: 'staged' })));
    await host.jobs.submit(aSubmission({ id: 'submitted' }));

    const found = await host.orm.em.fork().transactional(em => host.jobs.stage(em, aSubmission({ id: 'submitted' })));

    expect([found.created, (await host.jobs.submit(aSubmission({ id: 'staged' }))).created]).toEqual([false, false]);
  });

  test('one submission object may be sent again, also one whose id was made for it', async () => {
    const submission = charge.create({}, { delay: '1m' });

    const first = await host.jobs.submit(submission);
    const again = await host.jobs.submit(submission);

    expect(first.job.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
    expect(again).toEqual({ created: false, matched: 'identity', job: first.job });
  });

  test('the key of a scope is the SHA-256 of its UTF-8', async () => {
    await host.jobs.submit(aSubmission({ scope: '租户-1' }));

    // printf '租户-1' | sha256sum
    expect((await row(host)).scope_hash).toBe('be5fcce123be7e44e901237ea8a008d2447106b5339bec8ec0a96a1d93000f7f');
  });

  test('a job keeps everything that its submission said', async () => {
    host.clock.advance(60_000);
    await host.jobs.submit(
      charge.create(payload, {
        ...options,
        priority: -3,
        uniqueKey: 'key-1',
        metadata: { b: '2', a: '1' },
        timeout: '90s',
        onInterrupt: 'requeue',
        retry: { base: '1s', factor: 3, cap: '1m', jitter: 0, lifetime: '1h' },
      }),
    );

    expect(await row(host)).toMatchObject({
      id: 'job-1',
      scope: 'acme',
      name: 'card.charge',
      version: '1',
      payload: '{"card":"secret-1234","cents":1}',
      payload_override: null,
      queue: 'cards',
      priority: -3,
      max_attempts: 5,
      attempt_limit: 5,
      initial_not_before: notBefore.getTime() * 1000,
      next_run_at: notBefore.getTime() * 1000,
      state: 'queued',
      attempt_count: 0,
      failure_count: 0,
      on_interrupt: 'requeue',
      timeout_ms: 90_000,
      retry_policy: '{"baseMs":1000,"factor":3,"capMs":60000,"jitter":0,"lifetimeMs":3600000}',
      retry_until: (notBefore.getTime() + 3_600_000) * 1000,
      progress: 0,
      unique_key: 'key-1',
      metadata: '{"b":"2","a":"1"}',
      revision: 1,
      created_at: host.clock.now(),
      finished_at: null,
    });
  });

  test('without a not-before, a job is due when it is created', async () => {
    const { job } = await host.jobs.submit(aSubmission());

    expect(job).toMatchObject({ notBefore: null, nextRunAt: job.createdAt });
    expect(await row(host)).toMatchObject({ initial_not_before: null });
  });

  test('the answer for a new job is what a later read gives', async () => {
    const { job } = await host.jobs.submit(
      aSubmission({ id: 'job-1', metadata: { a: '1' }, uniqueKey: 'key-1', notBefore, priority: 3 }),
    );

    expect(await host.jobs.scope('').get('job-1')).toEqual(job);
  });
});

/** The only job, with its 64-bit columns as numbers on both databases. */
async function row({ orm }: Host): Promise<Record<string, unknown>> {
  const [only, second]: Record<string, unknown>[] = await orm.em.fork().execute('select * from durable_job');
  expect(second).toBeUndefined();
  const wide = ['initial_not_before', 'next_run_at', 'retry_until', 'created_at', 'finished_at'];

  return Object.fromEntries(
    Object.entries(only!).map(([column, value]) => [
      column,
      wide.includes(column) && value !== null ? Number(value) : value,
    ]),
  );
}
