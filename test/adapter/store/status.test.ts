import { expect, test } from '@jest/globals';
import { useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import {
  aRunningJob,
  deleteAttempts,
  keyOf,
  outcomes,
  refOf,
  setColumns,
  someRunningJobs,
  start,
  stored,
} from './given.ts';

forEachDriver(driver => {
  const on = useJobs(driver);

  test('an attempt that owns its job is active', async () => {
    expect(await on.store.status([await aRunningJob(on)])).toEqual(['active']);
  });

  test('an attempt whose job was cancelled is told so, until it ends', async () => {
    const attempt = await aRunningJob(on);
    await on.store.cancel(keyOf(attempt), {});

    expect(await on.store.status([attempt])).toEqual(['cancel_requested']);

    await on.store.settle([outcomes.interrupted(attempt)]);
    expect(await on.store.status([attempt])).toEqual(['ended']);
  });

  test.each(Object.entries(outcomes))('an attempt that %s has ended', async (_, outcome) => {
    const attempt = await aRunningJob(on);
    await on.store.settle([outcome(attempt)]);

    expect(await on.store.status([attempt])).toEqual(['ended']);
  });

  test('an attempt that was recovered has ended, before and after the next start', async () => {
    const stale = await aRunningJob(on);
    await on.store.recover([stale], { requeue: 'always', reason: 'lease_lapsed' });
    expect(await on.store.status([stale])).toEqual(['ended']);

    const current = await start(on, keyOf(stale));
    await on.store.cancel(keyOf(stale), {});

    expect(await on.store.status([stale, current])).toEqual(['ended', 'cancel_requested']);
  });

  test.each([
    ['token', { token: 'another' }],
    ['ordinal', { attempt: 2 }],
    ['id', { id: 'nobody' }],
    ['scope', { scope: 'other' }],
  ])('an attempt of another %s has ended', async (_, other) => {
    const attempt = await aRunningJob(on);

    expect(await on.store.status([{ ...refOf(attempt), ...other }, attempt])).toEqual(['ended', 'active']);
  });

  test('an attempt whose row is gone has ended', async () => {
    const attempt = await aRunningJob(on);
    await deleteAttempts(on.orm, attempt);

    expect(await on.store.status([attempt])).toEqual(['ended']);
  });

  test('an attempt whose job was set back by hand has ended', async () => {
    const attempt = await aRunningJob(on);
    await setColumns(on.orm, attempt, { state: 'queued', attempt_token: null, executor_id: null });

    expect(await on.store.status([attempt])).toEqual(['ended']);
  });

  test('answers stand in the position of what was asked, for a thousand as well', async () => {
    const attempts = await someRunningJobs(on, 1000);
    const cancelled = attempts[500]!;
    await on.store.cancel(keyOf(cancelled), {});

    const statuses = await on.store.status(attempts);

    expect(statuses).toEqual(attempts.map(attempt => (attempt === cancelled ? 'cancel_requested' : 'active')));
  });

  test('a status changes nothing', async () => {
    const attempt = await aRunningJob(on);
    const before = await stored(on, attempt);

    await on.store.status([attempt]);

    expect(await stored(on, attempt)).toEqual(before);
  });

  test('a group without attempts is answered without asking the database', async () => {
    expect(await on.store.status([])).toEqual([]);
  });
});
