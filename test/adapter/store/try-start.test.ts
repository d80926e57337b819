import { describe, expect, test } from '@jest/globals';
import { useJobs, type TestJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { activeStates, finishedStates } from '../../../src/core/states.ts';
import { aDueJob, aJobIn, ended, keyOf, rescheduled, setColumns, start, stored, withoutChecks } from './given.ts';

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

forEachDriver(driver => {
  const on = useJobs(driver);

  test('a due job is started by its key: a token, a counted start and a running attempt', async () => {
    const key = await aDueJob(on, { maxAttempts: 2, payload: { to: 'ann' } });
    const before = (await stored(on, key)).job!;

    const attempt = await on.store.tryStart(key, 'executor-7');

    const now = on.clock.now();
    expect(attempt).toMatchObject({
      ...key,
      attempt: 1,
      token: expect.stringMatching(uuidV4),
      payload: '{"to":"ann"}',
      scheduledFor: before.next_run_at,
      startedAt: now,
    });
    const token = attempt!.token;
    expect(await stored(on, key)).toEqual({
      job: {
        ...before,
        state: 'running',
        attempt_token: token,
        executor_id: 'executor-7',
        attempt_count: 1,
        revision: 2,
      },
      attempts: [
        expect.objectContaining({
          ordinal: 1,
          token,
          executor_id: 'executor-7',
          state: 'running',
          progress: 0,
          progress_message: null,
          started_at: now,
          ended_at: null,
        }),
      ],
    });
  });

  test('a start answers what a claim of the same job answers', async () => {
    const given = {
      maxAttempts: 3,
      priority: 4,
      queue: 'mail',
      timeout: '3s',
      retry: false,
      metadata: { a: 'b' },
    } as const;
    const byKey = await aDueJob(on, given);
    const started = await on.store.tryStart(byKey, 'executor-1');
    const byClaim = await aDueJob(on, given);

    const { attempts } = await on.store.claim({
      executorId: 'executor-1',
      definitions: [{ name: 'mail.send', version: '1' }],
      queues: null,
      limit: 1,
    });

    const { id: _, token: __, scheduledFor: ___, startedAt: ____, ...shared } = started!;
    expect(attempts).toEqual([expect.objectContaining({ ...shared, id: byClaim.id })]);
    expect(Object.keys(attempts[0]!).sort()).toEqual(Object.keys(started!).sort());
  });

  test('each start has a fresh token', async () => {
    const first = await start(on, await aDueJob(on));
    await on.store.settle([ended(first, 'failed')]);
    await on.store.retry(keyOf(first), {});

    const second = await start(on, keyOf(first));

    expect(second.attempt).toBe(2);
    expect(second.token).toMatch(uuidV4);
    expect(second.token).not.toBe(first.token);
  });

  test('a new start begins at progress 0 without a message', async () => {
    const first = await start(on, await aDueJob(on));
    await on.store.progress([{ ...first, value: 70, message: 'nearly there' }]);
    await on.store.settle([rescheduled(first)]);

    const second = await start(on, keyOf(first));

    const { job, attempts } = await stored(on, second);
    expect(job).toMatchObject({ progress: 0, progress_message: null });
    expect(attempts).toMatchObject([
      { ordinal: 1, progress: 70, progress_message: 'nearly there' },
      { ordinal: 2, progress: 0, progress_message: null },
    ]);
  });

  test('a job is due at its instant, not a microsecond before', async () => {
    const key = await aDueJob(on, { notBefore: new Date('2030-06-01T00:00:00Z') });
    const due = Number((await stored(on, key)).job!.next_run_at);

    on.clock.set(due - 1);
    await expectNoStart(on, key);

    on.clock.set(due);
    expect(await on.store.tryStart(key, 'executor-1')).toMatchObject(key);
  });

  test.each([...activeStates, ...finishedStates].filter(state => state !== 'queued'))(
    'a job that is %s is not started',
    async state => {
      const key = await aJobIn(on, state);
      on.clock.advance(1000);

      await expectNoStart(on, key);
    },
  );

  test('an unknown job is not started', async () => {
    expect(await on.store.tryStart({ scope: '', id: 'nobody' }, 'executor-1')).toBeNull();
  });

  test('where the attempt cannot be written, the job is not started', async () => {
    const key = await aDueJob(on);
    const before = await stored(on, key);

    const execute = (sql: string) => on.orm.em.fork().execute(sql);
    await execute('alter table durable_job_attempt rename to attempts_elsewhere');

    await expect(on.store.tryStart(key, 'executor-1')).rejects.toMatchObject({ code: 'SCHEMA_MISSING' });

    await execute('alter table attempts_elsewhere rename to durable_job_attempt');
    expect(await stored(on, key)).toEqual(before);
    expect(before.job).toMatchObject({ state: 'queued', attempt_count: 0 });
  });

  test('of sixteen who start one job at once, one gets it', async () => {
    const key = await aDueJob(on);

    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => on.store.tryStart(key, `executor-${index}`)),
    );

    const winners = answers.filter(answer => answer !== null);
    expect(winners).toHaveLength(1);
    const { job, attempts } = await stored(on, key);
    expect(job).toMatchObject({ attempt_count: 1, attempt_token: winners[0]!.token, revision: 2 });
    expect(attempts).toMatchObject([{ token: winners[0]!.token }]);
  });

  describe('without the table constraints', () => {
    withoutChecks(on);

    test('a queued job whose starts are spent is not started', async () => {
      const key = await aDueJob(on, { maxAttempts: 3 });
      await setColumns(on.orm, key, { attempt_count: 3 });

      await expectNoStart(on, key);
    });

    test('a queued job with a cancel mark is not started', async () => {
      const key = await aDueJob(on);
      await setColumns(on.orm, key, { cancel_requested_at: 1 });

      await expectNoStart(on, key);
    });
  });
});

async function expectNoStart(on: TestJobs, key: { scope: string; id: string }): Promise<void> {
  const before = await stored(on, key);

  expect(await on.store.tryStart(key, 'executor-1')).toBeNull();

  expect(await stored(on, key)).toEqual(before);
}
