import { expect, test } from '@jest/globals';
import { defineJob } from '../../../src/core/definition.ts';
import { jobStates } from '../../../src/core/states.ts';
import { aClaim, aSubmission, buildReport, sendMail, someSubmissions, useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aDueJob, aJobIn, dueJobs, rescheduled, stored } from './given.ts';

const secondInMicros = 1_000_000;
const sendMailV2 = defineJob<unknown>()({ name: 'mail.send', version: '2' });

forEachDriver(driver => {
  const on = useJobs(driver);

  test('a claim gives what is due by priority, then by due time, then by creation', async () => {
    const today = new Date('2029-12-31T12:00:00Z');
    const yesterday = new Date('2029-12-30T12:00:00Z');
    await dueJobs(on, [
      aSubmission({ id: 'today', notBefore: today }),
      aSubmission({ id: 'today-created-later', notBefore: today }),
      aSubmission({ id: 'yesterday', notBefore: yesterday }),
      aSubmission({ id: 'unimportant', notBefore: yesterday, priority: -2_147_483_647 }),
      aSubmission({ id: 'important', priority: 10 }),
      aSubmission({ id: 'most-important', priority: 2_147_483_647 }),
      aSubmission({ id: 'important-elsewhere', priority: 10, queue: 'reports' }),
    ]);

    const { attempts } = await on.store.claim(aClaim());

    expect(idsOf(attempts)).toEqual([
      'most-important',
      'important',
      'important-elsewhere',
      'yesterday',
      'today',
      'today-created-later',
      'unimportant',
    ]);
  });

  test('a claim gives no more than its limit, and the next one what is left', async () => {
    await dueJobs(
      on,
      ['a', 'b', 'c', 'd', 'e'].map(id => aSubmission({ id })),
    );

    expect(idsOf((await on.store.claim(aClaim({ limit: 2 }))).attempts)).toEqual(['a', 'b']);
    expect(idsOf((await on.store.claim(aClaim({ limit: 2 }))).attempts)).toEqual(['c', 'd']);
    expect(idsOf((await on.store.claim(aClaim({ limit: 2 }))).attempts)).toEqual(['e']);
    expect(idsOf((await on.store.claim(aClaim({ limit: 2 }))).attempts)).toEqual([]);
  });

  test('the limit counts over all queues and definitions, the highest priority first', async () => {
    await dueJobs(on, [
      ...someSubmissions(3, { queue: 'a', priority: 1 }),
      ...someSubmissions(3, { queue: 'b', priority: 2 }),
      ...someSubmissions(3, { queue: 'a', priority: 3, definition: buildReport }),
    ]);

    const { attempts } = await on.store.claim(aClaim({ definitions: [sendMail, buildReport], limit: 7 }));

    expect(attempts.map(({ priority }) => priority)).toEqual([3, 3, 3, 2, 2, 2, 1]);
  });

  test('a claimed job is a counted start with a token, an executor, progress 0 and a running attempt', async () => {
    const key = await aDueJob(on, { maxAttempts: 3, metadata: { tenant: 'acme' }, payload: { to: 'ann' } });
    const before = (await stored(on, key)).job!;

    const { attempts } = await on.store.claim(aClaim({ executorId: 'executor-7' }));

    const now = on.clock.now();
    const [{ token } = { token: '' }] = attempts;
    expect(attempts).toEqual([
      {
        ...key,
        attempt: 1,
        token: expect.stringMatching(uuidV4),
        name: 'mail.send',
        version: '1',
        queue: 'default',
        priority: 0,
        payload: '{"to":"ann"}',
        maxAttempts: 3,
        attemptLimit: 3,
        failureCount: 0,
        onInterrupt: 'hold',
        timeoutMs: null,
        retryPolicy: null,
        retryUntil: null,
        scheduledFor: before.next_run_at,
        metadata: { tenant: 'acme' },
        trace: null,
        startedAt: now,
      },
    ]);
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
        {
          scope_hash: before.scope_hash,
          job_id: key.id,
          ordinal: 1,
          token,
          executor_id: 'executor-7',
          state: 'running',
          progress: 0,
          progress_message: null,
          failure_reason: null,
          error: null,
          result_ref: null,
          started_at: now,
          ended_at: null,
        },
      ],
    });
  });

  test('every claimed job has a token of its own', async () => {
    await dueJobs(on, someSubmissions(50));

    const { attempts } = await on.store.claim(aClaim({ limit: 50 }));

    expect(new Set(attempts.map(({ token }) => token)).size).toBe(50);
  });

  test('a claim takes queued jobs only', async () => {
    for (const state of jobStates) await aJobIn(on, state, { id: state });

    const { attempts } = await on.store.claim(aClaim());

    expect(idsOf(attempts)).toEqual(['queued']);
  });

  test('a job is due at its instant, not a microsecond before', async () => {
    const key = await aDueJob(on, { notBefore: new Date('2030-06-01T00:00:00Z') });
    const due = Number((await stored(on, key)).job!.next_run_at);

    on.clock.set(due - 1);
    expect((await on.store.claim(aClaim())).attempts).toEqual([]);

    on.clock.set(due);
    expect(idsOf((await on.store.claim(aClaim())).attempts)).toEqual([key.id]);
  });

  test('among jobs alike, those that are not due yet are left', async () => {
    await on.store.submit([
      aSubmission({ id: 'now' }),
      aSubmission({ id: 'later', notBefore: new Date('2031-01-01') }),
    ]);
    on.clock.advance(1000);

    expect(idsOf((await on.store.claim(aClaim())).attempts)).toEqual(['now']);
    expect(await on.store.claim(aClaim())).toEqual({
      attempts: [],
      nextDueAt: Date.UTC(2031, 0, 1) * 1000,
      isHeldBack: false,
    });
  });

  test('a job whose definition the caller does not name is left untouched', async () => {
    const others = [await aDueJob(on, { definition: buildReport }), await aDueJob(on, { definition: sendMailV2 })];
    const before = await Promise.all(others.map(key => stored(on, key)));

    const answer = await on.store.claim(aClaim());

    expect(answer).toEqual({ attempts: [], nextDueAt: null, isHeldBack: false });
    expect(await Promise.all(others.map(key => stored(on, key)))).toEqual(before);
  });

  test('definitions are pairs: the name of one and the version of another match nothing', async () => {
    await aDueJob(on, { definition: buildReport });

    const { attempts } = await on.store.claim(
      aClaim({
        definitions: [
          { name: 'report.build', version: '1' },
          { name: 'mail.send', version: '2' },
        ],
      }),
    );

    expect(attempts).toEqual([]);
  });

  test('a list of queues is served alone, null is every queue', async () => {
    await dueJobs(
      on,
      ['a', 'b', 'c', 'C', 'ç'].map(queue => aSubmission({ id: queue === 'ç' ? 'cedille' : queue, queue })),
    );

    expect(idsOf((await on.store.claim(aClaim({ queues: ['b', 'C', 'unknown'] }))).attempts)).toEqual(['b', 'C']);
    expect(idsOf((await on.store.claim(aClaim({ queues: null }))).attempts)).toEqual(['a', 'c', 'cedille']);
  });

  test('no queues or no definitions match no job', async () => {
    await aDueJob(on);

    expect(await on.store.claim(aClaim({ queues: [] }))).toEqual({ attempts: [], nextDueAt: null, isHeldBack: false });
    expect(await on.store.claim(aClaim({ definitions: [] }))).toEqual({
      attempts: [],
      nextDueAt: null,
      isHeldBack: false,
    });
  });

  test('a queue or definition that is named twice is served once', async () => {
    await dueJobs(on, someSubmissions(3));

    const { attempts } = await on.store.claim(
      aClaim({ definitions: [sendMail, sendMail], queues: ['default', 'default'] }),
    );

    expect(new Set(idsOf(attempts)).size).toBe(3);
    expect(attempts).toHaveLength(3);
  });

  test('a limit of 0 starts nothing and says when something is due', async () => {
    const key = await aDueJob(on);
    const before = await stored(on, key);

    const { attempts, nextDueAt } = await on.store.claim(aClaim({ limit: 0 }));

    expect(attempts).toEqual([]);
    expect(nextDueAt).toBeLessThanOrEqual(on.clock.now());
    expect(await stored(on, key)).toEqual(before);
  });

  test('where nothing is queued, nothing is due', async () => {
    await aJobIn(on, 'running');
    await aJobIn(on, 'failed');

    expect(await on.store.claim(aClaim())).toEqual({ attempts: [], nextDueAt: null, isHeldBack: false });
  });

  test('a claim that starts nothing says when the next of its jobs is due', async () => {
    const tomorrow = new Date('2030-01-02T00:00:00Z');
    const nextWeek = new Date('2030-01-08T00:00:00Z');
    await on.store.submit([
      aSubmission({ notBefore: nextWeek, priority: 5 }),
      aSubmission({ notBefore: tomorrow, queue: 'b' }),
      aSubmission({ queue: 'not-served' }),
      aSubmission({ definition: buildReport }),
    ]);

    const { attempts, nextDueAt } = await on.store.claim(aClaim({ queues: ['default', 'b'] }));

    expect(attempts).toEqual([]);
    expect(nextDueAt).toBe(tomorrow.getTime() * 1000);
  });

  test('a job that waits for its retry counts as the next due one', async () => {
    await aDueJob(on);
    const [attempt] = (await on.store.claim(aClaim())).attempts;
    const nextRunAt = on.clock.now() + 90 * secondInMicros;
    await on.store.settle([rescheduled(attempt!, { nextRunAt })]);

    expect(await on.store.claim(aClaim())).toEqual({ attempts: [], nextDueAt: nextRunAt, isHeldBack: false });
  });

  test('while due jobs are left, a claim says that the next one is due', async () => {
    await dueJobs(on, [
      ...someSubmissions(3),
      aSubmission({ notBefore: new Date('2031-01-01T00:00:00Z'), priority: 1 }),
    ]);

    const { attempts, nextDueAt } = await on.store.claim(aClaim({ limit: 2 }));

    expect(attempts).toHaveLength(2);
    expect(nextDueAt).toBeLessThanOrEqual(on.clock.now());
  });

  test('more jobs than one thousand are claimed at once', async () => {
    await dueJobs(on, someSubmissions(1500));

    const { attempts } = await on.store.claim(aClaim({ limit: 1200 }));

    expect(new Set(idsOf(attempts)).size).toBe(1200);
  });
});

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function idsOf(attempts: ReadonlyArray<{ readonly id: string }>): string[] {
  return attempts.map(({ id }) => id);
}
