import { expect, test } from '@jest/globals';
import { activeStates, finishedStates } from '../../../src/core/states.ts';
import type { StoreHint } from '../../../src/core/store.ts';
import { useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aDueJob, aJobIn, aRunningJob, keyOf, start, stored, succeeded } from './given.ts';

forEachDriver(driver => {
  const on = useJobs(driver);

  test.each(activeStates.filter(state => state !== 'running'))(
    'a job that is %s is cancelled at once, without an attempt and without a start',
    async state => {
      const key = await aJobIn(on, state, { uniqueKey: 'invoice-7' });
      const before = await stored(on, key);

      expect(await on.store.cancel(key, { reason: 'not needed' })).toBe('cancelled');

      const now = on.clock.now();
      expect(await stored(on, key)).toEqual({
        job: {
          ...before.job,
          state: 'cancelled',
          cancel_requested_at: now,
          cancel_reason: 'not needed',
          failure_reason: 'cancel_requested',
          finished_at: now,
          unique_hash: null,
          revision: 2,
        },
        attempts: [],
      });
      expect(before.job).toMatchObject({ attempt_count: 0 });
    },
  );

  test('a running job only gets the mark', async () => {
    const attempt = await aRunningJob(on, { uniqueKey: 'invoice-7' });
    const before = await stored(on, attempt);
    on.clock.advance(1000);

    expect(await on.store.cancel(keyOf(attempt), { reason: 'not needed' })).toBe('requested');

    expect(await stored(on, attempt)).toEqual({
      job: { ...before.job, cancel_requested_at: on.clock.now(), cancel_reason: 'not needed', revision: 3 },
      attempts: before.attempts,
    });
  });

  test.each(finishedStates)('a job that is %s is not changed', async state => {
    const key = await aJobIn(on, state);
    const before = await stored(on, key);
    on.clock.advance(1000);

    expect(await on.store.cancel(key, { reason: 'too late' })).toBe(state === 'cancelled' ? 'cancelled' : 'finished');

    expect(await stored(on, key)).toEqual(before);
  });

  test('an unknown job is not found', async () => {
    expect(await on.store.cancel({ scope: '', id: 'nobody' }, {})).toBe('not_found');
  });

  test.each(activeStates)('cancelling a job that was %s again changes nothing and answers the same', async state => {
    const key = await aJobIn(on, state);
    const first = await on.store.cancel(key, { reason: 'first' });
    const before = await stored(on, key);
    on.clock.advance(1000);

    expect(await on.store.cancel(key, { reason: 'second' })).toBe(first);

    expect(await stored(on, key)).toEqual(before);
  });

  test('a cancel without a reason stays without one', async () => {
    const key = await aDueJob(on);
    await on.store.cancel(key, {});

    expect(await on.store.get(key)).toMatchObject({ state: 'cancelled', cancelReason: null });
  });

  test('a cancel in the queue costs no start: with one allowed, the job is retried and started', async () => {
    const key = await aDueJob(on, { maxAttempts: 1 });
    await on.store.cancel(key, {});
    expect(await on.store.retry(key, {})).toBe('queued');

    expect(await start(on, key)).toMatchObject({ attempt: 1 });
  });

  test('a success that was committed first stays, with its result', async () => {
    const attempt = await aRunningJob(on);
    await on.store.settle([succeeded(attempt, { resultRef: 'mail/1' })]);

    expect(await on.store.cancel(keyOf(attempt), {})).toBe('finished');

    expect(await on.store.get(keyOf(attempt))).toMatchObject({
      state: 'succeeded',
      resultRef: 'mail/1',
      cancelRequestedAt: null,
    });
  });

  test('who listens is told of a running job that was cancelled, and of no other', async () => {
    const running = keyOf(await aRunningJob(on));
    const queued = await aDueJob(on);
    const hints: StoreHint[] = [];
    const unsubscribe = on.store.subscribe(hint => hints.push(hint));

    await on.store.cancel(queued, {});
    await on.store.cancel(running, {});

    await unsubscribe();
    // On PostgreSQL it may begin to listen meanwhile.
    expect(hints.filter(({ kind }) => kind !== 'missed')).toEqual([{ kind: 'cancel', key: running }]);
  });
});
