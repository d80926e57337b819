import { expect, test } from '@jest/globals';
import { jobStates } from '../../../src/core/states.ts';
import { useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aDueJob, aJobIn, aRunningJob, keyOf, rescheduled, start, stored } from './given.ts';

forEachDriver(driver => {
  const on = useJobs(driver);

  test('a job that waits for its time is due now, and nothing else of it changes', async () => {
    const key = await aDueJob(on, { notBefore: new Date('2031-01-01T00:00:00Z') });
    const before = await stored(on, key);

    expect(await on.store.runNow(key)).toBe('due');

    expect(await stored(on, key)).toEqual({
      job: { ...before.job, next_run_at: on.clock.now(), revision: 2 },
      attempts: [],
    });
    expect(await on.store.tryStart(key, 'executor-1')).toMatchObject(key);
  });

  test('a job that waits for its retry is due now, and spends nothing', async () => {
    const first = await aRunningJob(on, { maxAttempts: 2 });
    await on.store.settle([rescheduled(first, { nextRunAt: on.clock.now() + 60_000_000 })]);

    expect(await on.store.runNow(keyOf(first))).toBe('due');

    expect(await start(on, keyOf(first))).toMatchObject({ attempt: 2, attemptLimit: 2, failureCount: 1 });
  });

  test('a job that is due already keeps its place', async () => {
    const key = await aDueJob(on);
    const before = await stored(on, key);

    expect(await on.store.runNow(key)).toBe('due');

    expect((await stored(on, key)).job!.next_run_at).toBe(before.job!.next_run_at);
  });

  test.each(jobStates.filter(state => state !== 'queued'))('a job that is %s is not changed', async state => {
    const key = await aJobIn(on, state);
    const before = await stored(on, key);

    expect(await on.store.runNow(key)).toBe('not_queued');

    expect(await stored(on, key)).toEqual(before);
  });

  test('an unknown job is not found', async () => {
    expect(await on.store.runNow({ scope: '', id: 'nobody' })).toBe('not_found');
  });
});
