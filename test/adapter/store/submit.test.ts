import { expect, test } from '@jest/globals';
import { JobIdentityConflictError } from '../../../src/core/errors.ts';
import { anExecutor, aSubmission, sendMail, someSubmissions, useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aDueJob, aJobIn, aRunningJob, countJobs, keyOf, refOf, start, stored, succeeded } from './given.ts';

forEachDriver(driver => {
  const on = useJobs(driver);

  test('a new submission is stored as a queued job that is due at once', async () => {
    const submission = aSubmission({
      scope: 'acme',
      payload: { to: 'ann' },
      priority: 3,
      queue: 'mail',
      maxAttempts: 4,
      uniqueKey: 'ann',
      timeout: '2s',
      onInterrupt: 'requeue',
      metadata: { tenant: 'acme' },
      retry: { base: '1s', lifetime: '1h' },
    });

    const [result] = await on.store.submit([submission]);

    const { job, attempts } = await stored(on, submission);
    const createdAt = Number(job!.created_at);
    expect(createdAt - on.clock.now()).toBeLessThan(1_000_000);
    expect(attempts).toEqual([]);
    expect(job).toEqual({
      scope_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      id: submission.id,
      scope: 'acme',
      name: 'mail.send',
      version: '1',
      payload: '{"to":"ann"}',
      payload_override: null,
      queue: 'mail',
      priority: 3,
      max_attempts: 4,
      attempt_limit: 4,
      initial_not_before: null,
      next_run_at: createdAt,
      state: 'queued',
      attempt_count: 0,
      failure_count: 0,
      attempt_token: null,
      executor_id: null,
      on_interrupt: 'requeue',
      timeout_ms: 2000,
      retry_policy: expect.stringContaining('1000'),
      retry_until: createdAt + 3_600_000_000,
      progress: 0,
      progress_message: null,
      cancel_requested_at: null,
      cancel_reason: null,
      result_ref: null,
      failure_reason: null,
      last_error: null,
      unique_key: 'ann',
      unique_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      recurring_id: null,
      trace_parent: null,
      trace_state: null,
      metadata: '{"tenant":"acme"}',
      changed_by: null,
      initial_queue: null,
      revision: 1,
      created_at: createdAt,
      finished_at: null,
    });
    expect(result).toEqual({ job: await on.store.get(submission), created: true, matched: 'none' });
    expect(Object.isFrozen(result)).toBe(true);
  });

  test('the same request again answers the stored job, whatever has become of it', async () => {
    const submission = aSubmission();
    await on.store.submit([submission]);
    const attempt = await start(on, submission);
    await on.store.settle([succeeded(attempt)]);
    const before = await stored(on, submission);

    const [result] = await on.store.submit([submission]);

    expect(result).toEqual({ job: await on.store.get(submission), created: false, matched: 'identity' });
    expect(result!.job.state).toBe('succeeded');
    expect(await stored(on, submission)).toEqual(before);
  });

  test('answers stand in the position of what was submitted: new, known, equal ones and a taken unique key', async () => {
    const known = aSubmission();
    const holder = aSubmission({ uniqueKey: 'invoice-7' });
    await on.store.submit([known, holder]);
    const fresh = aSubmission();
    const late = aSubmission({ uniqueKey: 'invoice-7' });

    const results = await on.store.submit([late, fresh, known, fresh, known]);

    expect(results.map(({ job, created, matched }) => ({ id: job.id, created, matched }))).toEqual([
      { id: holder.id, created: false, matched: 'uniqueKey' },
      { id: fresh.id, created: true, matched: 'none' },
      { id: known.id, created: false, matched: 'identity' },
      { id: fresh.id, created: false, matched: 'identity' },
      { id: known.id, created: false, matched: 'identity' },
    ]);
    expect(await on.store.get(late)).toBeNull();
  });

  test('of two jobs of one batch with one unique key the first is stored', async () => {
    const [first, second] = [aSubmission({ uniqueKey: 'k', id: 'z' }), aSubmission({ uniqueKey: 'k', id: 'a' })];

    const results = await on.store.submit([first, second]);

    expect(results).toMatchObject([
      { created: true, job: { id: 'z' } },
      { created: false, matched: 'uniqueKey', job: { id: 'z' } },
    ]);
  });

  test.each([
    ['a stored job', true],
    ['another of the same batch', false],
  ])('a conflict with %s leaves nothing of the batch', async (_, isStored) => {
    const first = aSubmission({ id: 'taken', payload: 1 });
    if (isStored) await on.store.submit([first]);
    const others = someSubmissions(3);
    const batch = [...others, ...(isStored ? [] : [first]), aSubmission({ id: 'taken', payload: 2 }), aSubmission()];

    await expect(on.store.submit(batch)).rejects.toThrow(JobIdentityConflictError);

    expect(await countJobs(on)).toBe(isStored ? 1 : 0);
  });

  test('a batch of more than a thousand is stored at once, or not at all', async () => {
    const batch = someSubmissions(2500);

    const results = await on.store.submit(batch);

    expect(results.map(({ job, created }) => [job.id, created])).toEqual(batch.map(({ id }) => [id, true]));
    const conflicting = [...someSubmissions(1500), aSubmission({ id: batch[0]!.id, payload: 'another' })];
    await expect(on.store.submit(conflicting)).rejects.toThrow(JobIdentityConflictError);
    expect(await countJobs(on)).toBe(2500);
  });

  test('jobs of one batch are created in its order', async () => {
    const batch = someSubmissions(5);
    await on.store.submit(batch);
    on.clock.advance(1000);

    const { attempts } = await on.store.claim({
      executorId: 'executor-1',
      definitions: [sendMail],
      queues: null,
      limit: 5,
    });

    expect(attempts.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
  });

  test('payloads of a million bytes are kept, several in one batch', async () => {
    const payload = 'é'.repeat(499_999);
    const batch = [aSubmission({ payload }), aSubmission({ payload }), aSubmission({ payload })];
    await on.store.submit(batch);

    for (const submission of batch) {
      expect((await stored(on, submission)).job!.payload).toBe(`"${payload}"`);
      expect((await on.store.submit([submission]))[0]).toMatchObject({ matched: 'identity' });
    }
  });

  test('nothing to submit is nothing done', async () => {
    expect(await on.store.submit([])).toEqual([]);
  });

  test.each(['succeeded', 'failed', 'cancelled', 'interrupted'] as const)(
    'a unique key is free again when its job is %s',
    async state => {
      await aJobIn(on, state, { uniqueKey: 'k' });

      expect((await on.store.submit([aSubmission({ uniqueKey: 'k' })]))[0]).toMatchObject({ created: true });
    },
  );

  test.each(['awaiting', 'queued', 'running'] as const)('a unique key is held while its job is %s', async state => {
    const holder = await aJobIn(on, state, { uniqueKey: 'k' });

    expect((await on.store.submit([aSubmission({ uniqueKey: 'k' })]))[0]).toMatchObject({
      created: false,
      matched: 'uniqueKey',
      job: holder,
    });
  });

  test('a unique key is held while its job waits for a retry, a snooze, or after a release', async () => {
    const attempt = await aRunningJob(on, { uniqueKey: 'k' });
    await on.store.release([attempt]);

    expect((await on.store.submit([aSubmission({ uniqueKey: 'k' })]))[0]).toMatchObject({ matched: 'uniqueKey' });
  });

  test.each([
    ['another scope', { scope: 'a', uniqueKey: 'k' }, { scope: 'b', uniqueKey: 'k' }],
    ['a border between scope and key elsewhere', { scope: 'a', uniqueKey: 'bc' }, { scope: 'ab', uniqueKey: 'c' }],
    ['digits that look like a length', { scope: '1', uniqueKey: '1:a' }, { scope: '11:', uniqueKey: 'a' }],
    ['a colon in the scope', { scope: 'a:1', uniqueKey: 'b' }, { scope: 'a', uniqueKey: ':1b' }],
    ['no scope', { scope: '', uniqueKey: 'ab' }, { scope: 'a', uniqueKey: 'b' }],
    ['case', { scope: '', uniqueKey: 'Key' }, { scope: '', uniqueKey: 'key' }],
    ['composition', { scope: '', uniqueKey: '\u00e9' }, { scope: '', uniqueKey: 'e\u0301' }],
  ])("unique keys don't meet: %s", async (_, one, other) => {
    const results = await on.store.submit([aSubmission(one), aSubmission(other)]);

    expect(results).toMatchObject([{ created: true }, { created: true }]);
  });

  test('identity is judged before the unique key', async () => {
    const known = aSubmission({ uniqueKey: 'mine' });
    await on.store.submit([known, aSubmission({ uniqueKey: 'k' })]);

    const again = aSubmission({ id: known.id, uniqueKey: 'k' });

    expect((await on.store.submit([again]))[0]).toMatchObject({ matched: 'identity', job: { id: known.id } });
  });

  test.each([
    ['quotes', `it's "quoted" \`twice\``],
    ['backslashes', String.raw`C:\new\table \\ \' \u0041`],
    ['placeholders', '? ?? $1 :name @p0 %s {0} \\?'],
    ['dollar quotes', '$$ $body$ select 1; $body$'],
    ['SQL', `'); drop table durable_job; --`],
    ['line ends', 'a\r\nb\nc\rd\u2028e\u2029f'],
    ['control characters', '\u0001\u0008\u000b\u001f\u007f'],
    ['astral characters', '\u{1f600}\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{10ffff}'],
    ['marks of direction', '\u202eevil\u202c \u200f \ufeff'],
    ['what is written as an escape', String.raw`\u0000 \x00 %00`],
    ['composition', 'e\u0301 \u00e9 \ufb01'],
    ['white space', ' \t leading and trailing \u00a0 '],
    ['numbers as text', '1e3'],
    ['null as text', 'null'],
    ['JSON as text', '{"a": [1, 2]}'],
  ])('texts come back byte for byte: %s', async (_, text) => {
    const submission = sendMail.createFromJson(
      JSON.stringify({ text, n: 0 }).replace('"n":0', '"n": 12345678901234567890.10'),
      {
        id: 'a',
        scope: text,
        queue: text,
        uniqueKey: text,
        metadata: { [text]: text },
      },
    );
    const [submitted] = await on.store.submit([submission]);
    await on.store.register(anExecutor({ id: text, name: text, host: text }));
    on.clock.advance(1000);
    const { attempts } = await on.store.claim({ executorId: text, definitions: [sendMail], queues: [text], limit: 1 });
    await on.store.progress([{ ...refOf(attempts[0]!), value: 1, message: text }]);
    await on.store.settle([
      {
        ...refOf(attempts[0]!),
        progress: null,
        outcome: 'rescheduled',
        nextRunAt: 0,
        failureReason: 'handler_error',
        error: text,
      },
    ]);
    const again = await start(on, submission);
    await on.store.cancel(keyOf(submission), { reason: text });
    const marked = await on.store.get(submission);
    await on.store.settle([succeeded(again, { progress: { value: 2, message: text }, resultRef: null })]);

    expect(attempts[0]).toMatchObject({
      payload: submission.payload,
      scope: text,
      queue: text,
      metadata: { [text]: text },
    });
    expect(submitted!.job).toMatchObject({ scope: text, queue: text, uniqueKey: text, metadata: { [text]: text } });
    expect(marked).toMatchObject({ cancelReason: text, lastError: text, scope: text });
    const { job, attempts: rows } = await stored(on, submission);
    expect(job).toMatchObject({
      payload: submission.payload,
      scope: text,
      queue: text,
      unique_key: text,
      progress_message: text,
    });
    expect(rows).toMatchObject([
      { executor_id: text, progress_message: text, error: text },
      { progress_message: text },
    ]);
    expect((await on.store.submit([submission]))[0]).toMatchObject({ matched: 'identity' });
  });

  test('a result reference comes back byte for byte and is never looked at', async () => {
    const resultRef = `file:///etc/passwd?x=';--\\\u{1f600}`;
    const attempt = await aRunningJob(on);
    await on.store.settle([succeeded(attempt, { resultRef })]);

    expect(await on.store.get(keyOf(attempt))).toMatchObject({ resultRef });
    expect(await on.store.attempts(keyOf(attempt))).toMatchObject([{ resultRef }]);
  });

  test('a name like __proto__ is a name like any other', async () => {
    const key = await aDueJob(on, { queue: '__proto__', scope: 'constructor', id: '__proto__' });

    expect(await start(on, key)).toMatchObject({ queue: '__proto__', id: '__proto__' });
  });
});
