import { assert } from '../assert.ts';
import type { Settlement } from '../../core/attempt.ts';
import { dateOf } from '../../core/time.ts';
import {
  assertHas,
  attemptOf,
  attemptStatesOf,
  jobOf,
  only,
  outcomes,
  settled,
  settlements,
  started,
  startOf,
  submitted,
} from '../arrange.ts';
import { aClaim, aReport, failed, interrupted, keyOf, rescheduled, snoozed, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

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
      const { nextRunAt } = await jobOf(on, attempt);
      await on.store.cancel(keyOf(attempt), { reason: 'no longer wanted' });
      on.clock.advance(3000);

      const settlement = settlements[outcome]({ ...attempt, startedAt: on.clock.now() });
      assert.deepEqual(await settled(on, settlement), { answer: 'settled', state: 'cancelled' });

      assertHas(await jobOf(on, attempt), {
        state: 'cancelled',
        failureReason: 'cancel_requested',
        cancelReason: 'no longer wanted',
        resultRef: null,
        failureCount: 0,
        attemptLimit: 3,
        nextRunAt,
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

  (['rescheduled', 'failed', 'interrupted'] as const).map(outcome =>
    fact(
      `a settlement as ${outcome} without an error keeps the last one on the job, and has none on its attempt`,
      async on => {
        const job = await submitted(on);
        await settled(on, rescheduled(await startOf(on, job), 0, { error: 'first' }));
        const second = await startOf(on, job);

        await settled(on, { ...settlements[outcome](second), error: null } as Settlement);

        assertHas(await jobOf(on, job), { lastError: 'first' });
        assertHas(await attemptOf(on, second), { error: null });
      },
    ),
  ),

  fact('an error text of 8 KiB is kept whole', async on => {
    const attempt = await started(on);
    const error = 'ä'.repeat(4096);
    await settled(on, failed(attempt, { error }));

    assert.equal((await jobOf(on, attempt)).lastError, error);
  }),
]);
