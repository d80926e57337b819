import { assert } from '../assert.ts';
import {
  aJobIn,
  assertHas,
  assertUnchanged,
  jobOf,
  only,
  settled,
  started,
  startOf,
  stateOf,
  submitted,
} from '../arrange.ts';
import { aClaim, aSubmission, keyOf, rescheduled } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const runningNow = group('Running now', [
  fact('a scheduled job is made due', async on => {
    const notBefore = new Date('2031-01-01');
    const job = await submitted(on, { notBefore });
    on.clock.advance(5000);

    assert.equal(await on.store.runNow(keyOf(job)), 'due');

    assertHas(await jobOf(on, job), { state: 'queued', nextRunAt: on.clock.date(), notBefore });
    assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
  }),

  fact('a job that waits for its retry is made due, and spends nothing', async on => {
    const attempt = await started(on, { maxAttempts: 3 });
    await settled(on, rescheduled(attempt, on.clock.now() + 60_000_000));
    const { revision: _, nextRunAt: __, ...before } = await jobOf(on, attempt);

    assert.equal(await on.store.runNow(keyOf(attempt)), 'due');

    const { revision: ___, nextRunAt, ...after } = await jobOf(on, attempt);
    assert.deepEqual(after, before);
    assert.deepEqual(nextRunAt, on.clock.date());
    assert.equal((await startOf(on, attempt)).attempt, 2);
  }),

  fact('a job that is due already keeps its place', async on => {
    const first = await submitted(on);
    on.clock.advance(5000);
    await submitted(on);
    const { nextRunAt } = await jobOf(on, first);

    assert.equal(await on.store.runNow(keyOf(first)), 'due');

    assert.deepEqual((await jobOf(on, first)).nextRunAt, nextRunAt);
    assert.equal((await on.store.claim(aClaim({ limit: 1 }))).attempts[0]!.id, first.id);
  }),

  (['awaiting', 'running', 'succeeded', 'failed', 'cancelled', 'interrupted'] as const).map(state =>
    fact(`a job that is ${state} is not made due`, async on => {
      const key = await aJobIn(on, state);

      assert.equal(await assertUnchanged(on, key, () => on.store.runNow(key)), 'not_queued');
    }),
  ),

  fact('an unknown job is not found to be run now', async ({ store }) => {
    assert.equal(await store.runNow({ scope: '', id: 'nobody' }), 'not_found');
  }),

  fact('a job that was made due is still the same request', async on => {
    const submission = aSubmission({ notBefore: new Date('2031-01-01') });
    await on.store.submit([submission]);
    await on.store.runNow(keyOf(submission));

    assertHas(only(await on.store.submit([submission])), { created: false, matched: 'identity' });
    assert.equal(await stateOf(on, submission), 'queued');
  }),
]);
