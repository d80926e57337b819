import { assert } from '../assert.ts';
import {
  assertHas,
  assertUnchanged,
  attemptOf,
  idsOf,
  jobOf,
  outcomes,
  settled,
  settlements,
  started,
  stateOf,
} from '../arrange.ts';
import { aClaim, failed, keyOf, rescheduled, someSubmissions, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const settlingGroups = group('Settling in groups', [
  fact('a job is not rescheduled beyond its starts: that is refused, and nothing is written', async on => {
    const attempt = await started(on, { maxAttempts: 1 });

    await assertUnchanged(on, attempt, () => {
      return assert.rejects(async () => on.store.settle([rescheduled(attempt, on.clock.now())]));
    });
  }),

  fact('of two settlements of one attempt in a group the first one counts', async on => {
    const attempt = await started(on);

    const answers = await on.store.settle([succeeded(attempt), failed(attempt), succeeded(attempt)]);

    const first = { answer: 'settled', state: 'succeeded' };
    assert.deepEqual(answers, [first, { answer: 'lost' }, first]);
    assertHas(await attemptOf(on, attempt), { state: 'succeeded', error: null });
  }),

  fact('settlements are answered in their position, each judged by itself', async on => {
    const [first, stale, cancelled, last] = [
      await started(on),
      await started(on),
      await started(on),
      await started(on),
    ];
    await on.store.recover([stale], { requeue: 'always', reason: 'shutdown' });
    await on.store.cancel(keyOf(cancelled), {});

    const answers = await on.store.settle([
      succeeded(first),
      succeeded(stale),
      failed(cancelled),
      rescheduled(last, on.clock.now()),
    ]);

    assert.deepEqual(answers, [
      { answer: 'settled', state: 'succeeded' },
      { answer: 'lost' },
      { answer: 'settled', state: 'cancelled' },
      { answer: 'settled', state: 'queued' },
    ]);
    assert.equal(await stateOf(on, stale), 'queued');
  }),

  fact('each settlement of a group brings its own values', async on => {
    const attempts = [await started(on), await started(on), await started(on)];

    await on.store.settle(attempts.map((attempt, index) => succeeded(attempt, { resultRef: `mail/${index}` })));

    const results = await Promise.all(attempts.map(attempt => jobOf(on, attempt)));
    assert.deepEqual(
      results.map(({ resultRef }) => resultRef),
      ['mail/0', 'mail/1', 'mail/2'],
    );
  }),

  fact('hundreds of attempts are settled in one call', async ({ store }) => {
    await store.submit(someSubmissions(300));
    const { attempts } = await store.claim(aClaim({ limit: 300 }));

    const answers = await store.settle(attempts.map(attempt => succeeded(attempt)));

    assert.equal(answers.filter(({ answer }) => answer === 'settled').length, 300);
    assert.deepEqual(await store.running({ limit: 10 }), []);
  }),

  fact('no settlements are answered by an empty list', async ({ store }) => {
    assert.deepEqual(await store.settle([]), []);
  }),

  fact(
    'an attempt whose record is gone settles nothing, and the answer says why',
    { needs: ['deleteAttempt'] },
    async on => {
      const attempt = await started(on);
      await on.deleteAttempt(attempt);

      await assertUnchanged(on, attempt, async () => {
        for (const outcome of outcomes) {
          assert.deepEqual(await settled(on, settlements[outcome](attempt)), { answer: 'attempt_missing' }, outcome);
        }
      });
    },
  ),

  fact('a missing record takes no other settlement of its group with it', { needs: ['deleteAttempt'] }, async on => {
    const [missing, other] = [await started(on), await started(on)];
    await on.deleteAttempt(missing);

    assert.deepEqual(await on.store.settle([succeeded(missing), succeeded(other)]), [
      { answer: 'attempt_missing' },
      { answer: 'settled', state: 'succeeded' },
    ]);
  }),
]);

export const settlingAtOnce = group('Settling at once', [
  fact(
    'of a cancel and a success at once the storage decides: cancelled without a result, or succeeded with one',
    async on => {
      const [a, b] = await on.handles(2);

      for (let round = 0; round < 20; round++) {
        const attempt = await started(on);
        const settle = () => a!.store.settle([succeeded(attempt)]);
        const cancel = () => b!.store.cancel(keyOf(attempt), {});
        const [first, second] = await Promise.all(round % 2 ? [settle(), cancel()] : [cancel(), settle()]);

        const [settlement, cancelled] = typeof first === 'string' ? [second, first] : [first, second];
        const { state, resultRef } = await jobOf(on, attempt);
        const isCancelled = cancelled === 'requested';
        assert.ok(isCancelled || cancelled === 'finished', `cancel answered ${String(cancelled)}`);
        assert.deepEqual(
          { state, resultRef, settlement },
          isCancelled
            ? { state: 'cancelled', resultRef: null, settlement: [{ answer: 'settled', state: 'cancelled' }] }
            : { state: 'succeeded', resultRef: 'mail/1', settlement: [{ answer: 'settled', state: 'succeeded' }] },
        );
        assertHas(await attemptOf(on, attempt), { state: isCancelled ? 'cancelled' : 'succeeded', resultRef });
      }
    },
  ),

  fact('of a group that is settled and cancels of its jobs at once each job has one fate', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 5; round++) {
      await on.store.submit(someSubmissions(20));
      const { attempts } = await on.store.claim(aClaim({ limit: 20 }));
      const [answers, ...cancels] = await Promise.all([
        a!.store.settle(attempts.map(attempt => succeeded(attempt))),
        ...attempts.map(attempt => b!.store.cancel(keyOf(attempt), {})),
      ]);

      for (const [index, attempt] of attempts.entries()) {
        const isCancelled = cancels[index] === 'requested';
        const { state, resultRef } = await jobOf(on, attempt);
        assert.deepEqual(
          { state, resultRef, answer: answers[index] },
          isCancelled
            ? { state: 'cancelled', resultRef: null, answer: { answer: 'settled', state: 'cancelled' } }
            : { state: 'succeeded', resultRef: 'mail/1', answer: { answer: 'settled', state: 'succeeded' } },
        );
      }
    }
  }),

  fact('of two different settlements of one attempt at once, one is settled and one is lost', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 10; round++) {
      const attempt = await started(on);
      const answers = await Promise.all([a!.store.settle([succeeded(attempt)]), b!.store.settle([failed(attempt)])]);

      const settledAs = answers.flat().filter(({ answer }) => answer === 'settled');
      assert.equal(settledAs.length, 1);
      assert.deepEqual(settledAs, [{ answer: 'settled', state: await stateOf(on, attempt) }]);
    }
  }),

  fact('groups that settle the same attempts in opposite orders at once settle each of them once', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 5; round++) {
      await on.store.submit(someSubmissions(10));
      const { attempts } = await on.store.claim(aClaim());
      const answers = await Promise.all([
        a!.store.settle(attempts.map(attempt => succeeded(attempt))),
        b!.store.settle([...attempts].reverse().map(attempt => failed(attempt))),
      ]);

      assert.equal(answers.flat().filter(({ answer }) => answer === 'settled').length, 10);
      assert.equal(idsOf(await on.store.running({ limit: 10 })).length, 0);
    }
  }),
]);
