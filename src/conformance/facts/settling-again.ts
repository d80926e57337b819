import { assert } from '../assert.ts';
import type { JobState } from '../../core/states.ts';
import { assertUnchanged, jobOf, outcomes, settled, settlements, started, startOf, stateOf } from '../arrange.ts';
import { failed, interrupted, keyOf, rescheduled, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

const reached: Readonly<Record<(typeof outcomes)[number], JobState>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  interrupted: 'interrupted',
  rescheduled: 'queued',
  snoozed: 'queued',
};

export const settlingAgain = group('Settling again', [
  outcomes.map(outcome =>
    fact(
      `an attempt that was settled as ${outcome} is settled again with the same answer, and nothing is written`,
      async on => {
        const attempt = await started(on);
        const first = await settled(on, settlements[outcome](attempt));
        on.clock.advance(3000);

        const second = await assertUnchanged(on, attempt, () => settled(on, settlements[outcome](attempt)));

        assert.deepEqual(second, first);
        assert.deepEqual(first, { answer: 'settled', state: reached[outcome] });
      },
    ),
  ),

  fact('a settlement that met a cancel is settled again as cancelled', async on => {
    const attempt = await started(on);
    await on.store.cancel(keyOf(attempt), {});
    await settled(on, succeeded(attempt));

    const again = await assertUnchanged(on, attempt, () => settled(on, succeeded(attempt)));

    assert.deepEqual(again, { answer: 'settled', state: 'cancelled' });
  }),

  fact('an attempt that has ended in one way is lost for every other', async on => {
    const attempt = await started(on);
    await settled(on, succeeded(attempt));

    await assertUnchanged(on, attempt, async () => {
      for (const outcome of outcomes.filter(other => other !== 'succeeded')) {
        assert.deepEqual(await settled(on, settlements[outcome](attempt)), { answer: 'lost' }, outcome);
      }
    });
  }),

  outcomes.map(outcome =>
    fact(`an attempt that was settled as ${outcome} is lost for every other token`, async on => {
      const attempt = await started(on);
      await settled(on, settlements[outcome](attempt));

      const forged = { ...attempt, token: '00000000-0000-4000-8000-000000000000' };
      const answer = await assertUnchanged(on, attempt, () => settled(on, settlements[outcome](forged)));

      assert.deepEqual(answer, { answer: 'lost' });
    }),
  ),

  fact('a reschedule and a snooze are settled again with the same answer also after the next start', async on => {
    for (const end of [settlements.rescheduled, settlements.snoozed]) {
      const attempt = await started(on);
      await settled(on, end(attempt));
      await startOf(on, attempt);

      const again = await assertUnchanged(on, attempt, () => settled(on, end(attempt)));

      assert.deepEqual(again, { answer: 'settled', state: 'queued' });
    }
  }),

  fact('a failure and an interruption are settled again with the same answer also after a retry', async on => {
    for (const end of [settlements.failed, settlements.interrupted]) {
      const attempt = await started(on);
      const first = await settled(on, end(attempt));
      await on.store.retry(keyOf(attempt), {});

      assert.deepEqual(await assertUnchanged(on, attempt, () => settled(on, end(attempt))), first);
    }
  }),

  fact('a success with another result, or a failure with another error, is not the one that was settled', async on => {
    const [done, broken] = [await started(on), await started(on)];
    await on.store.settle([succeeded(done, { resultRef: 'mail/1' }), failed(broken, { error: 'one' })]);

    const again = [succeeded(done, { resultRef: 'mail/2' }), failed(broken, { error: 'two' })];
    const answers = await assertUnchanged(on, done, () => on.store.settle(again));

    assert.deepEqual(answers, [{ answer: 'lost' }, { answer: 'lost' }]);
    assert.equal((await jobOf(on, broken)).lastError, 'one');
  }),

  fact(
    'a reschedule and a snooze are settled again with the same answer also after a later attempt has ended',
    async on => {
      for (const end of [settlements.rescheduled, settlements.snoozed]) {
        for (const later of [settlements.failed, settlements.interrupted]) {
          const attempt = await started(on);
          await settled(on, end(attempt));
          await settled(on, later(await startOf(on, attempt)));

          const again = await assertUnchanged(on, attempt, () => settled(on, end(attempt)));

          assert.deepEqual(again, { answer: 'settled', state: 'queued' });
        }
      }
    },
  ),

  fact('a failure and an interruption for another reason are not the ones that were settled', async on => {
    const [broken, cut] = [await started(on), await started(on)];
    await on.store.settle([failed(broken), interrupted(cut)]);

    const again = [
      failed(broken, { failureReason: 'timeout' }),
      interrupted(cut, { failureReason: 'instance_restart' }),
    ];

    assert.deepEqual(await on.store.settle(again), [{ answer: 'lost' }, { answer: 'lost' }]);
    assert.deepEqual((await jobOf(on, broken)).failureReason, 'permanent_error');
  }),

  fact('a reschedule is not a failure, nor the other way round, also in the same words', async on => {
    const words = { failureReason: 'handler_error', error: 'busy' } as const;
    const [waiting, over] = [await started(on), await started(on)];
    await on.store.settle([rescheduled(waiting, on.clock.now(), words), failed(over, words)]);

    const answers = await on.store.settle([failed(waiting, words), rescheduled(over, on.clock.now(), words)]);

    assert.deepEqual(answers, [{ answer: 'lost' }, { answer: 'lost' }]);
    assert.deepEqual([await stateOf(on, waiting), await stateOf(on, over)], ['queued', 'failed']);
  }),

  fact('an attempt that a recovery interrupted and queued again was not interrupted by its executor', async on => {
    const attempt = await started(on);
    await on.store.recover([attempt], { requeue: 'always', reason: 'shutdown' });

    assert.deepEqual(await settled(on, interrupted(attempt, { failureReason: 'shutdown' })), { answer: 'lost' });
  }),
]);
