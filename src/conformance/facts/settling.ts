import assert from 'node:assert/strict';
import type { JobState } from '../../core/states.ts';
import { dateOf } from '../../core/time.ts';
import {
  assertHas,
  assertUnchanged,
  attemptOf,
  attemptStatesOf,
  idsOf,
  jobOf,
  only,
  outcomes,
  settled,
  settlements,
  started,
  startOf,
  stateOf,
  submitted,
} from '../arrange.ts';
import {
  aClaim,
  aReport,
  failed,
  interrupted,
  keyOf,
  rescheduled,
  snoozed,
  someSubmissions,
  succeeded,
} from '../builders.ts';
import { fact, group } from '../fact.ts';

const reached: Readonly<Record<(typeof outcomes)[number], JobState>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  interrupted: 'interrupted',
  rescheduled: 'queued',
  snoozed: 'queued',
};

export const settling = group('Settling', [
  fact('a success ends the job, with its result', async on => {
    const attempt = await started(on);
    on.clock.advance(3000);

    assert.deepEqual(await settled(on, succeeded(attempt, { resultRef: 'mail/7' })), {
      answer: 'settled',
      state: 'succeeded',
    });

    assertHas(await jobOf(on, attempt), {
      state: 'succeeded',
      resultRef: 'mail/7',
      failureReason: null,
      finishedAt: on.clock.date(),
      attemptCount: 1,
      failureCount: 0,
    });
    assertHas(await attemptOf(on, attempt), {
      state: 'succeeded',
      resultRef: 'mail/7',
      failureReason: null,
      error: null,
      endedAt: on.clock.date(),
    });
  }),

  fact('a success needs no result, and a result is never looked at', async on => {
    const [without, odd] = [await started(on), await started(on)];

    await on.store.settle([succeeded(without, { resultRef: null }), succeeded(odd, { resultRef: '{"a": 1} 😀' })]);

    assert.equal((await jobOf(on, without)).resultRef, null);
    assert.equal((await jobOf(on, odd)).resultRef, '{"a": 1} 😀');
  }),

  fact('a failure ends the job, counted, with its reason and error', async on => {
    const attempt = await started(on);
    on.clock.advance(3000);

    const settlement = failed(attempt, { failureReason: 'attempts_exhausted', error: 'no such mailbox' });
    assert.deepEqual(await settled(on, settlement), { answer: 'settled', state: 'failed' });

    assertHas(await jobOf(on, attempt), {
      state: 'failed',
      failureReason: 'attempts_exhausted',
      lastError: 'no such mailbox',
      failureCount: 1,
      resultRef: null,
      finishedAt: on.clock.date(),
    });
    assertHas(await attemptOf(on, attempt), {
      state: 'failed',
      failureReason: 'attempts_exhausted',
      error: 'no such mailbox',
      endedAt: on.clock.date(),
    });
  }),

  fact('an interruption ends the job and counts no failure', async on => {
    const attempt = await started(on);
    on.clock.advance(3000);

    assert.deepEqual(await settled(on, interrupted(attempt)), { answer: 'settled', state: 'interrupted' });

    assertHas(await jobOf(on, attempt), {
      state: 'interrupted',
      failureReason: 'shutdown',
      lastError: null,
      failureCount: 0,
      finishedAt: on.clock.date(),
    });
    assertHas(await attemptOf(on, attempt), { state: 'interrupted', failureReason: 'shutdown', error: null });
  }),

  fact('a reschedule queues the job for its time, and counts a failure', async on => {
    const attempt = await started(on);
    on.clock.advance(3000);
    const nextRunAt = on.clock.now() + 60_000_000;

    assert.deepEqual(await settled(on, rescheduled(attempt, nextRunAt)), { answer: 'settled', state: 'queued' });

    assertHas(await jobOf(on, attempt), {
      state: 'queued',
      nextRunAt: dateOf(nextRunAt),
      failureReason: 'handler_error',
      lastError: 'mailbox busy',
      attemptCount: 1,
      failureCount: 1,
      attemptLimit: 10,
      finishedAt: null,
    });
    assertHas(await attemptOf(on, attempt), {
      state: 'failed',
      failureReason: 'handler_error',
      error: 'mailbox busy',
      endedAt: on.clock.date(),
    });
  }),

  fact('a rescheduled job is claimed again at its time, and not before', async on => {
    const attempt = await started(on);
    const nextRunAt = on.clock.now() + 60_000_001;
    await settled(on, rescheduled(attempt, nextRunAt));

    on.clock.set(nextRunAt - 1);
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
    on.clock.set(nextRunAt);
    assertHas(only((await on.store.claim(aClaim())).attempts), { attempt: 2, scheduledFor: nextRunAt });
  }),

  fact('a snooze queues the job for its time, counts no failure and gives its start back', async on => {
    const attempt = await started(on, { maxAttempts: 2 });
    const nextRunAt = on.clock.now() + 60_000_000;

    assert.deepEqual(await settled(on, snoozed(attempt, nextRunAt)), { answer: 'settled', state: 'queued' });

    assertHas(await jobOf(on, attempt), {
      state: 'queued',
      nextRunAt: dateOf(nextRunAt),
      attemptCount: 1,
      failureCount: 0,
      maxAttempts: 2,
      attemptLimit: 3,
      finishedAt: null,
    });
    assertHas(await attemptOf(on, attempt), { state: 'snoozed', error: null, endedAt: on.clock.date() });
  }),

  fact('a job with one start may be snoozed again and again', async on => {
    const job = await submitted(on, { maxAttempts: 1 });

    for (let round = 1; round <= 4; round++) {
      const attempt = await startOf(on, job);
      assert.equal(attempt.attempt, round);
      await settled(on, snoozed(attempt, on.clock.now()));
    }

    assert.deepEqual(await attemptStatesOf(on, job), ['snoozed', 'snoozed', 'snoozed', 'snoozed']);
  }),

  outcomes.map(outcome =>
    fact(`the last progress travels with a settlement as ${outcome}`, async on => {
      const attempt = await started(on);
      await on.store.progress([aReport(attempt, 40, 'page 4')]);

      await settled(on, { ...settlements[outcome](attempt), progress: { value: 70, message: 'page 7' } });

      assertHas(await jobOf(on, attempt), { progress: 70, progressMessage: 'page 7' });
      assertHas(await attemptOf(on, attempt), { progress: 70, progressMessage: 'page 7' });
    }),
  ),

  fact('a settlement never takes progress back, and keeps the message where it brings none', async on => {
    const [lower, none] = [await started(on), await started(on)];
    await on.store.progress([aReport(lower, 40, 'page 4'), aReport(none, 50, 'page 5')]);

    await on.store.settle([succeeded(lower, { progress: { value: 10, message: null } }), succeeded(none)]);

    assertHas(await jobOf(on, lower), { progress: 40, progressMessage: 'page 4' });
    assertHas(await attemptOf(on, lower), { progress: 40, progressMessage: 'page 4' });
    assertHas(await jobOf(on, none), { progress: 50, progressMessage: 'page 5' });
  }),

  outcomes.map(outcome =>
    fact(`a cancel that was committed before a settlement as ${outcome} makes it cancelled`, async on => {
      const attempt = await started(on, { maxAttempts: 3 });
      await on.store.cancel(keyOf(attempt), { reason: 'no longer wanted' });
      on.clock.advance(3000);

      assert.deepEqual(await settled(on, settlements[outcome](attempt)), { answer: 'settled', state: 'cancelled' });

      assertHas(await jobOf(on, attempt), {
        state: 'cancelled',
        failureReason: 'cancel_requested',
        cancelReason: 'no longer wanted',
        resultRef: null,
        failureCount: 0,
        attemptLimit: 3,
        finishedAt: on.clock.date(),
      });
      assertHas(await attemptOf(on, attempt), {
        state: 'cancelled',
        failureReason: 'cancel_requested',
        resultRef: null,
        endedAt: on.clock.date(),
      });
    }),
  ),

  fact('each failure overwrites the last error, and a later success keeps it', async on => {
    const job = await submitted(on);
    await settled(on, rescheduled(await startOf(on, job), 0, { error: 'first' }));
    await settled(on, rescheduled(await startOf(on, job), 0, { error: 'second' }));
    assertHas(await jobOf(on, job), { lastError: 'second', failureCount: 2 });

    await settled(on, succeeded(await startOf(on, job)));

    assertHas(await jobOf(on, job), { lastError: 'second', failureReason: null, failureCount: 2 });
    assert.deepEqual(
      (await on.store.attempts(keyOf(job))).map(({ error }) => error),
      ['first', 'second', null],
    );
  }),

  fact('an error text of 8 KiB is kept whole', async on => {
    const attempt = await started(on);
    const error = 'ä'.repeat(4096);
    await settled(on, failed(attempt, { error }));

    assert.equal((await jobOf(on, attempt)).lastError, error);
  }),

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
