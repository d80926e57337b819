import { assert } from '../assert.ts';
import type { JobState } from '../../core/states.ts';
import { dateOf } from '../../core/time.ts';
import {
  aJobIn,
  assertHas,
  assertUnchanged,
  attemptOf,
  attemptStatesOf,
  jobOf,
  only,
  settled,
  started,
  startOf,
  submitted,
} from '../arrange.ts';
import { aClaim, aReport, failed, interrupted, keyOf, rescheduled, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

const nothingLeft = {
  state: 'queued',
  progress: 0,
  progressMessage: null,
  lastError: null,
  failureReason: null,
  cancelRequestedAt: null,
  cancelReason: null,
  resultRef: null,
  finishedAt: null,
} as const;

const notFinished: readonly JobState[] = ['awaiting', 'queued', 'running'];

export const retrying = group('Retrying', [
  (['failed', 'cancelled', 'interrupted'] as const).map(state =>
    fact(`a job that has ${state === 'failed' ? '' : 'been '}${state} is queued again, and due`, async on => {
      const key = await aJobIn(on, state);
      on.clock.advance(5000);

      assert.equal(await on.store.retry(key, {}), 'queued');

      assertHas(await jobOf(on, key), { state: 'queued', nextRunAt: on.clock.date(), finishedAt: null });
      assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
    }),
  ),

  fact('nothing of the last run is left on a retried job', async on => {
    const attempt = await started(on);
    await on.store.progress([aReport(attempt, 70, 'page 7')]);
    await settled(on, failed(attempt, { error: 'boom' }));

    await on.store.retry(keyOf(attempt), {});

    assertHas(await jobOf(on, attempt), nothingLeft);
  }),

  fact('nothing of a cancel is left on a retried job: it starts, and is not told to end', async on => {
    const attempt = await started(on);
    await on.store.cancel(keyOf(attempt), { reason: 'stop' });
    await settled(on, succeeded(attempt));

    await on.store.retry(keyOf(attempt), {});

    assertHas(await jobOf(on, attempt), nothingLeft);
    assert.deepEqual(await on.store.status([await startOf(on, attempt)]), ['active']);
  }),

  fact('a retry leaves the attempts as they ended', async on => {
    const attempt = await started(on);
    await on.store.progress([aReport(attempt, 70, 'page 7')]);
    await settled(on, failed(attempt, { error: 'boom' }));
    const before = await on.store.attempts(keyOf(attempt));

    await on.store.retry(keyOf(attempt), {});

    assert.deepEqual(await on.store.attempts(keyOf(attempt)), before);
    assertHas(await attemptOf(on, attempt), { progress: 70, error: 'boom' });
  }),

  fact('a retry keeps the budget: starts and failures go on counting', async on => {
    const job = await submitted(on, { maxAttempts: 2 });
    await settled(on, failed(await startOf(on, job)));
    await on.store.retry(keyOf(job), {});
    assertHas(await jobOf(on, job), { attemptCount: 1, failureCount: 1, attemptLimit: 2, maxAttempts: 2 });

    const second = await startOf(on, job);
    assert.equal(second.attempt, 2);
    await settled(on, failed(second));
    assertHas(await jobOf(on, job), { failureCount: 2 });
    assert.deepEqual(await attemptStatesOf(on, job), ['failed', 'failed']);
  }),

  (['failed', 'interrupted'] as const).map(state =>
    fact(`a job that is ${state} with its starts spent is not retried`, async on => {
      const key = await aJobIn(on, state, { maxAttempts: 1 });

      assert.equal(await assertUnchanged(on, key, () => on.store.retry(key, {})), 'no_starts_left');
    }),
  ),

  notFinished.map(state =>
    fact(`a job that is ${state} is not retried`, async on => {
      const key = await aJobIn(on, state);

      assert.equal(await assertUnchanged(on, key, () => on.store.retry(key, {})), 'not_finished');
    }),
  ),

  fact('a job that has succeeded is not retried', async on => {
    const key = await aJobIn(on, 'succeeded');

    assert.equal(await assertUnchanged(on, key, () => on.store.retry(key, {})), 'succeeded');
  }),

  fact('an unknown job is not found by a retry', async ({ store }) => {
    assert.equal(await store.retry({ scope: '', id: 'nobody' }, {}), 'not_found');
  }),

  fact('a retry may be put off', async on => {
    const key = await aJobIn(on, 'failed');
    const at = on.clock.now() + 60_000_000;

    assert.equal(await on.store.retry(key, { at }), 'queued');

    assert.deepEqual((await jobOf(on, key)).nextRunAt, dateOf(at));
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
    on.clock.set(at);
    assert.equal(only((await on.store.claim(aClaim())).attempts).scheduledFor, at);
  }),

  fact('a retried job keeps its not-before, as it was submitted', async on => {
    const notBefore = on.clock.date();
    const key = await aJobIn(on, 'failed', { notBefore });
    on.clock.advance(5000);
    await on.store.retry(key, {});

    assertHas(await jobOf(on, key), { notBefore, nextRunAt: on.clock.date() });
  }),

  fact('of eight who retry one job at once, one does', async on => {
    const handles = await on.handles(8);
    const key = await aJobIn(on, 'interrupted');

    const answers = await Promise.all(handles.map(({ store }) => store.retry(key, {})));

    assert.deepEqual(answers.sort(), [...Array.from({ length: 7 }, () => 'not_finished'), 'queued']);
  }),

  fact('a retried job may succeed, with all its attempts on record', async on => {
    const job = await submitted(on);
    await settled(on, rescheduled(await startOf(on, job), on.clock.now()));
    await settled(on, interrupted(await startOf(on, job)));
    await on.store.retry(keyOf(job), {});
    await settled(on, succeeded(await startOf(on, job)));

    assertHas(await jobOf(on, job), { state: 'succeeded', attemptCount: 3, failureCount: 1, resultRef: 'mail/1' });
    assert.deepEqual(await attemptStatesOf(on, job), ['failed', 'interrupted', 'succeeded']);
  }),
]);
