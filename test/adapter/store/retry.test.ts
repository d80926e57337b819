import { expect, test } from '@jest/globals';
import { jobStates, retryableStates } from '../../../src/core/states.ts';
import { aSubmission, useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aDueJob, aJobIn, aRunningJob, ended, keyOf, start, stored, succeeded } from './given.ts';

const refusals = {
  awaiting: 'not_finished',
  queued: 'not_finished',
  running: 'not_finished',
  succeeded: 'succeeded',
} as const;

forEachDriver(driver => {
  const on = useJobs(driver);

  test.each(jobStates.flatMap(state => [1, 2].map(maxAttempts => ({ state, maxAttempts }))))(
    'retry of a job that is $state, of $maxAttempts starts allowed',
    async ({ state, maxAttempts }) => {
      const key = await aJobIn(on, state, { maxAttempts });
      const before = await stored(on, key);
      const isRetried = maxAttempts === 2 && (retryableStates as readonly string[]).includes(state);

      const answer = await on.store.retry(key, {});

      const refusal = refusals[state as keyof typeof refusals] ?? 'no_starts_left';
      expect(answer).toBe(isRetried ? 'queued' : refusal);
      if (!isRetried) expect(await stored(on, key)).toEqual(before);
    },
  );

  test.each(retryableStates)('a job that was %s is queued again, with nothing left of its last run', async state => {
    const attempt = await aRunningJob(on, { uniqueKey: 'invoice-7' });
    await on.store.progress([{ ...attempt, value: 70, message: 'nearly there' }]);
    if (state === 'cancelled') await on.store.cancel(keyOf(attempt), { reason: 'not needed' });
    await on.store.settle([ended(attempt, state === 'failed' ? 'failed' : 'interrupted', { error: 'boom' })]);
    const before = await stored(on, attempt);
    expect(before.job).toMatchObject({ state, last_error: 'boom', progress: 70 });
    on.clock.advance(5000);

    expect(await on.store.retry(keyOf(attempt), {})).toBe('queued');

    expect(await stored(on, attempt)).toEqual({
      job: {
        ...before.job,
        state: 'queued',
        next_run_at: on.clock.now(),
        progress: 0,
        progress_message: null,
        failure_reason: null,
        last_error: null,
        cancel_requested_at: null,
        cancel_reason: null,
        finished_at: null,
        revision: Number(before.job!.revision) + 1,
      },
      attempts: before.attempts,
    });
    expect(before.attempts).toMatchObject([{ progress: 70, error: 'boom' }]);
  });

  test('a retried job goes on with the next ordinal, and its budget is kept', async () => {
    const first = await aRunningJob(on, { maxAttempts: 2 });
    await on.store.settle([ended(first, 'failed')]);
    await on.store.retry(keyOf(first), {});
    const second = await start(on, keyOf(first));
    await on.store.settle([ended(second, 'failed')]);

    expect(second).toMatchObject({ attempt: 2, failureCount: 1, attemptLimit: 2 });
    expect(await on.store.retry(keyOf(first), {})).toBe('no_starts_left');
    expect((await on.store.attempts(keyOf(first))).map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('a job that was cancelled while it ran starts clean after its retry', async () => {
    const first = await aRunningJob(on);
    await on.store.cancel(keyOf(first), {});
    await on.store.settle([ended(first, 'interrupted')]);
    await on.store.retry(keyOf(first), {});

    const second = await start(on, keyOf(first));

    expect(await on.store.status([second])).toEqual(['active']);
    expect(await on.store.settle([succeeded(second, { resultRef: 'mail/2' })])).toEqual([
      { answer: 'settled', state: 'succeeded' },
    ]);
  });

  test('a retry may be put off', async () => {
    const key = await aJobIn(on, 'failed');
    const at = on.clock.now() + 60_000_000;

    expect(await on.store.retry(key, { at })).toBe('queued');

    on.clock.set(at - 1);
    expect(await on.store.tryStart(key, 'executor-1')).toBeNull();
    on.clock.set(at);
    expect(await on.store.tryStart(key, 'executor-1')).toMatchObject({ scheduledFor: at });
  });

  test('an unknown job is not found', async () => {
    expect(await on.store.retry({ scope: '', id: 'nobody' }, {})).toBe('not_found');
  });

  test('a retry does not take the unique key back', async () => {
    const key = await aJobIn(on, 'failed', { uniqueKey: 'invoice-7' });
    const [holder] = await on.store.submit([aSubmission({ uniqueKey: 'invoice-7' })]);

    expect(await on.store.retry(key, {})).toBe('queued');

    expect(holder!.created).toBe(true);
    expect((await on.store.submit([aSubmission({ uniqueKey: 'invoice-7' })]))[0]).toMatchObject({
      matched: 'uniqueKey',
      job: { id: holder!.job.id },
    });
  });

  test('snapshots are frozen, and show what was stored when they were read', async () => {
    const key = await aDueJob(on, { metadata: { tenant: 'acme' } });
    const queued = (await on.store.get(key))!;
    const attempt = await start(on, key);
    await on.store.settle([succeeded(attempt)]);
    const [ran] = await on.store.attempts(key);

    expect(queued.state).toBe('queued');
    expect((await on.store.get(key))!.state).toBe('succeeded');
    for (const snapshot of [queued, queued.metadata, ran, attempt, attempt.metadata]) {
      expect(Object.isFrozen(snapshot)).toBe(true);
    }
  });
});
