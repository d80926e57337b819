import { expect, test } from '@jest/globals';
import { useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aDueJob, aRunningJob, keyOf, rescheduled, someRunningJobs, start, stored } from './given.ts';

forEachDriver(driver => {
  const on = useJobs(driver);

  test('a released job is as it was before the claim, two revisions later', async () => {
    const key = await aDueJob(on, { uniqueKey: 'invoice-7', maxAttempts: 1 });
    const before = await stored(on, key);
    const attempt = await start(on, key);

    expect(await on.store.release([attempt])).toEqual(['released']);

    expect(await stored(on, key)).toEqual({ job: { ...before.job, revision: 3 }, attempts: [] });
  });

  test('a release spends no start: the job can be started as often as before', async () => {
    const attempt = await aRunningJob(on, { maxAttempts: 1 });
    await on.store.release([attempt]);

    const again = await start(on, keyOf(attempt));

    expect(again.attempt).toBe(1);
    expect(again.token).not.toBe(attempt.token);
  });

  test('a release keeps the attempts before it, and why they failed', async () => {
    const first = await aRunningJob(on);
    await on.store.settle([rescheduled(first, { error: 'mailbox busy' })]);
    const before = await stored(on, first);
    const second = await start(on, keyOf(first));

    expect(await on.store.release([second])).toEqual(['released']);

    const { job, attempts } = await stored(on, first);
    expect(job).toEqual({ ...before.job, revision: 5 });
    expect(attempts).toEqual(before.attempts);
    expect(job).toMatchObject({ attempt_count: 1, last_error: 'mailbox busy', failure_reason: 'handler_error' });
  });

  test('where a cancel came first, the released job is cancelled and its start counts', async () => {
    const attempt = await aRunningJob(on, { uniqueKey: 'invoice-7' });
    await on.store.cancel(keyOf(attempt), { reason: 'not needed' });
    const before = await stored(on, attempt);
    on.clock.advance(5000);

    expect(await on.store.release([attempt])).toEqual(['cancelled']);

    const now = on.clock.now();
    expect(await stored(on, attempt)).toEqual({
      job: {
        ...before.job,
        state: 'cancelled',
        attempt_token: null,
        executor_id: null,
        failure_reason: 'cancel_requested',
        finished_at: now,
        unique_hash: null,
        revision: 4,
      },
      attempts: [{ ...before.attempts[0], state: 'cancelled', failure_reason: 'cancel_requested', ended_at: now }],
    });
    expect(before.job).toMatchObject({ attempt_count: 1 });
  });

  test('a group is released at once, each by itself', async () => {
    const [fine, cancelled, other] = await someRunningJobs(on, 3);
    await on.store.cancel(keyOf(cancelled!), {});

    const answers = await on.store.release([other!, cancelled!, { ...fine!, token: 'stale' }, fine!]);

    expect(answers).toEqual(['released', 'cancelled', 'lost', 'released']);
  });

  test('the same attempt is released once', async () => {
    const attempt = await aRunningJob(on);

    expect(await on.store.release([attempt, attempt])).toEqual(['released', 'lost']);
    expect(await on.store.release([attempt])).toEqual(['lost']);
    expect((await stored(on, attempt)).job).toMatchObject({ attempt_count: 0, revision: 3 });
  });

  test('a group without attempts is answered without asking the database', async () => {
    expect(await on.store.release([])).toEqual([]);
  });
});
