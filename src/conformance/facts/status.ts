import { assert } from '../assert.ts';
import { aJobIn, assertUnchanged, outcomes, settled, settlements, started, startOf } from '../arrange.ts';
import { keyOf, refOf, rescheduled } from '../builders.ts';
import { fact, group } from '../fact.ts';

const nobody = { scope: '', id: 'nobody', attempt: 1, token: 'f3f8ad4c-6f0f-4a51-9b1c-9f6f4f3f0000' };

export const status = group('The status of an attempt', [
  fact('an attempt that owns its job is active', async on => {
    assert.deepEqual(await on.store.status([refOf(await started(on))]), ['active']);
  }),

  fact('an attempt whose job is to be cancelled is told so', async on => {
    const attempt = await started(on);
    await on.store.cancel(keyOf(attempt), {});

    assert.deepEqual(await on.store.status([attempt]), ['cancel_requested']);
  }),

  outcomes.map(outcome =>
    fact(`an attempt that was settled as ${outcome} has ended`, async on => {
      const attempt = await started(on);
      await settled(on, settlements[outcome](attempt));

      assert.deepEqual(await on.store.status([attempt]), ['ended']);
    }),
  ),

  fact('an attempt that was recovered or released has ended, before and after the next start', async on => {
    const recovered = await started(on);
    const released = await started(on);
    await on.store.recover([recovered], { requeue: 'always', reason: 'shutdown' });
    await on.store.release([released]);
    assert.deepEqual(await on.store.status([recovered, released]), ['ended', 'ended']);

    const next = [await startOf(on, recovered), await startOf(on, released)];
    assert.deepEqual(await on.store.status([recovered, released, ...next]), ['ended', 'ended', 'active', 'active']);
  }),

  fact('an unknown job and a wrong token have ended', async on => {
    const attempt = await started(on);

    assert.deepEqual(await on.store.status([nobody, { ...attempt, token: nobody.token }]), ['ended', 'ended']);
  }),

  fact('a status changes nothing', async on => {
    const attempt = await started(on);

    await assertUnchanged(on, attempt, () => on.store.status([attempt, nobody]));
  }),

  fact('statuses are answered in their position', async on => {
    const [active, cancelled] = [await started(on), await started(on)];
    await on.store.cancel(keyOf(cancelled), {});
    const retrying = await started(on);
    await settled(on, rescheduled(retrying, on.clock.now()));

    assert.deepEqual(await on.store.status([retrying, active, cancelled, active]), [
      'ended',
      'active',
      'cancel_requested',
      'active',
    ]);
    assert.deepEqual(await on.store.status([]), []);
  }),

  fact('a cancel that was withdrawn by a retry does not reach the next attempt', async on => {
    const key = await aJobIn(on, 'queued', { maxAttempts: 5 });
    const first = await startOf(on, key);
    await on.store.cancel(key, {});
    await settled(on, settlements.failed(first));
    await on.store.retry(key, {});

    assert.deepEqual(await on.store.status([await startOf(on, key)]), ['active']);
  }),
]);
