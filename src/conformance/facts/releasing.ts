import { assert } from '../assert.ts';
import {
  assertHas,
  assertUnchanged,
  attemptStatesOf,
  idsOf,
  jobOf,
  only,
  settled,
  started,
  startOf,
  submitted,
} from '../arrange.ts';
import { aClaim, aReport, keyOf, rescheduled } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const releasing = group('Releasing', [
  fact('a released job is as it was before its start', async on => {
    const job = await submitted(on, { priority: 3, notBefore: new Date('2029-12-31'), uniqueKey: 'k' });
    const before = await jobOf(on, job);
    const attempt = await startOf(on, job);
    on.clock.advance(5000);

    assert.deepEqual(await on.store.release([attempt]), ['released']);

    const after = await jobOf(on, job);
    assert.deepEqual({ ...after, revision: before.revision }, before);
    assert.deepEqual(await on.store.attempts(keyOf(job)), []);
  }),

  fact('a released job is claimed again at once, with the same number and another token', async on => {
    const attempt = await started(on);
    await on.store.release([attempt]);

    const again = only((await on.store.claim(aClaim())).attempts);

    assertHas(again, { ...keyOf(attempt), attempt: 1 });
    assert.notEqual(again.token, attempt.token);
  }),

  fact('a release spends no start: a job with one is released again and again', async on => {
    const job = await submitted(on, { maxAttempts: 1 });

    for (let round = 0; round < 3; round++) {
      assert.deepEqual(await on.store.release([await startOf(on, job)]), ['released']);
    }

    assertHas(await jobOf(on, job), { attemptCount: 0, attemptLimit: 1, state: 'queued' });
  }),

  fact('a release takes back the progress of its attempt, too', async on => {
    const attempt = await started(on);
    await on.store.progress([aReport(attempt, 40, 'page 4')]);

    await on.store.release([attempt]);

    assertHas(await jobOf(on, attempt), { progress: 0, progressMessage: null });
  }),

  fact('a release keeps the attempts before it, and why they failed', async on => {
    const job = await submitted(on);
    await settled(on, rescheduled(await startOf(on, job), on.clock.now(), { error: 'busy' }));

    await on.store.release([await startOf(on, job)]);

    assertHas(await jobOf(on, job), {
      attemptCount: 1,
      failureCount: 1,
      failureReason: 'handler_error',
      lastError: 'busy',
    });
    assert.deepEqual(await attemptStatesOf(on, job), ['failed']);
    assert.equal((await startOf(on, job)).attempt, 2);
  }),

  fact('a job with a cancel mark is cancelled by its release, and its start counts', async on => {
    const attempt = await started(on);
    await on.store.cancel(keyOf(attempt), { reason: 'why not' });
    on.clock.advance(5000);

    assert.deepEqual(await on.store.release([attempt]), ['cancelled']);

    assertHas(await jobOf(on, attempt), {
      state: 'cancelled',
      failureReason: 'cancel_requested',
      cancelReason: 'why not',
      attemptCount: 1,
      finishedAt: on.clock.date(),
    });
    assertHas(only(await on.store.attempts(keyOf(attempt))), {
      state: 'cancelled',
      failureReason: 'cancel_requested',
      endedAt: on.clock.date(),
    });
  }),

  fact('a released job stands where it stood', async on => {
    const [first, second] = [await submitted(on), await submitted(on)];
    const attempt = await startOf(on, first);
    on.clock.advance(5000);

    await on.store.release([attempt]);

    assert.deepEqual(idsOf((await on.store.claim(aClaim())).attempts), idsOf([first, second]));
  }),

  fact('releases are answered in their position, each judged by itself', async on => {
    const [first, stale, cancelled, last] = [
      await started(on),
      await started(on),
      await started(on),
      await started(on),
    ];
    await on.store.release([stale]);
    await on.store.cancel(keyOf(cancelled), {});

    assert.deepEqual(await on.store.release([first, stale, cancelled, last]), [
      'released',
      'lost',
      'cancelled',
      'released',
    ]);
    assert.deepEqual(await on.store.release([]), []);
  }),

  fact(
    'an attempt whose record is gone is not released, and the answer says why',
    { needs: ['deleteAttempt'] },
    async on => {
      const [missing, other] = [await started(on), await started(on)];
      await on.deleteAttempt(missing);

      const answer = await assertUnchanged(on, missing, () => on.store.release([missing, other]));

      assert.deepEqual(answer, ['attempt_missing', 'released']);
    },
  ),
]);
