import { describe, expect, test } from '@jest/globals';
import type { Settlement } from '../../../src/core/attempt.ts';
import { useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import {
  aRunningJob,
  countJobs,
  deleteAttempts,
  ended,
  keyOf,
  outcomes,
  rescheduled,
  setColumns,
  snoozed,
  someRunningJobs,
  start,
  stored,
  succeeded,
  type StoredRow,
} from './given.ts';

const outcomeNames = Object.keys(outcomes) as Settlement['outcome'][];
const later = Date.UTC(2030, 5, 1) * 1000;

forEachDriver(driver => {
  const on = useJobs(driver);

  /** What each outcome changes, beside what every one does: no token, no executor, one revision more, the attempt's end. */
  const effects: Array<{
    title: string;
    settlement: (attempt: Parameters<typeof succeeded>[0]) => Settlement;
    state: string;
    isFinished: boolean;
    job: StoredRow;
    attempt: StoredRow;
  }> = [
    {
      title: 'succeeded with a result',
      settlement: attempt => succeeded(attempt, { resultRef: 'file:///etc/passwd' }),
      state: 'succeeded',
      isFinished: true,
      job: { result_ref: 'file:///etc/passwd', failure_reason: null },
      attempt: { state: 'succeeded', result_ref: 'file:///etc/passwd', failure_reason: null, error: null },
    },
    {
      title: 'succeeded without a result',
      settlement: attempt => succeeded(attempt, { resultRef: null }),
      state: 'succeeded',
      isFinished: true,
      job: { result_ref: null, failure_reason: null },
      attempt: { state: 'succeeded', result_ref: null, failure_reason: null, error: null },
    },
    {
      title: 'failed',
      settlement: attempt => ended(attempt, 'failed', { failureReason: 'timeout', error: 'too long' }),
      state: 'failed',
      isFinished: true,
      job: { failure_count: 1, failure_reason: 'timeout', last_error: 'too long' },
      attempt: { state: 'failed', failure_reason: 'timeout', error: 'too long' },
    },
    {
      title: 'interrupted',
      settlement: attempt => ended(attempt, 'interrupted', { failureReason: 'shutdown', error: null }),
      state: 'interrupted',
      isFinished: true,
      job: { failure_count: 0, failure_reason: 'shutdown' },
      attempt: { state: 'interrupted', failure_reason: 'shutdown', error: null },
    },
    {
      title: 'rescheduled',
      settlement: attempt =>
        rescheduled(attempt, { nextRunAt: later, failureReason: 'throttled', error: 'mailbox busy' }),
      state: 'queued',
      isFinished: false,
      job: { failure_count: 1, failure_reason: 'throttled', last_error: 'mailbox busy', next_run_at: later },
      attempt: { state: 'failed', failure_reason: 'throttled', error: 'mailbox busy' },
    },
    {
      title: 'snoozed',
      settlement: attempt => snoozed(attempt, { nextRunAt: later }),
      state: 'queued',
      isFinished: false,
      job: { failure_count: 0, failure_reason: null, next_run_at: later, attempt_limit: 11 },
      attempt: { state: 'snoozed', failure_reason: null, error: null },
    },
  ];

  test.each(effects)('an attempt that $title writes exactly this on job and attempt', async effect => {
    const attempt = await aRunningJob(on, { uniqueKey: 'invoice-7' });
    const before = await stored(on, attempt);
    on.clock.advance(5000);

    const answers = await on.store.settle([effect.settlement(attempt)]);

    const now = on.clock.now();
    expect(answers).toEqual([{ answer: 'settled', state: effect.state }]);
    expect(await stored(on, attempt)).toEqual({
      job: {
        ...before.job,
        state: effect.state,
        attempt_token: null,
        executor_id: null,
        finished_at: effect.isFinished ? now : null,
        unique_hash: effect.isFinished ? null : before.job!.unique_hash,
        revision: 3,
        ...effect.job,
      },
      attempts: [{ ...before.attempts[0], ended_at: now, ...effect.attempt }],
    });
    expect(before.job!.unique_hash).not.toBeNull();
  });

  test.each(outcomeNames)(
    'a cancel that was committed first turns "%s" into cancelled, without a result and without a failure',
    async outcome => {
      const attempt = await aRunningJob(on, { uniqueKey: 'invoice-7' });
      await on.store.progress([{ ...attempt, value: 30, message: 'a third' }]);
      await on.store.cancel(keyOf(attempt), { reason: 'not needed' });
      const before = await stored(on, attempt);
      on.clock.advance(5000);

      const settlement = outcomes[outcome](attempt);
      const answers = await on.store.settle([settlement]);

      const now = on.clock.now();
      const error = 'error' in settlement ? settlement.error : null;
      expect(answers).toEqual([{ answer: 'settled', state: 'cancelled' }]);
      expect(await stored(on, attempt)).toEqual({
        job: {
          ...before.job,
          state: 'cancelled',
          attempt_token: null,
          executor_id: null,
          failure_reason: 'cancel_requested',
          last_error: error,
          result_ref: null,
          finished_at: now,
          unique_hash: null,
          revision: 5,
        },
        attempts: [
          {
            ...before.attempts[0],
            state: 'cancelled',
            failure_reason: 'cancel_requested',
            error,
            result_ref: null,
            ended_at: now,
          },
        ],
      });
      expect(before.job).toMatchObject({ failure_count: 0, attempt_limit: 10, cancel_reason: 'not needed' });
    },
  );

  test.each(outcomeNames)('"%s" takes the last progress along', async outcome => {
    const attempt = await aRunningJob(on);
    await on.store.progress([{ ...attempt, value: 30, message: 'a third' }]);

    await on.store.settle([{ ...outcomes[outcome](attempt), progress: { value: 80, message: 'most' } }]);

    const written = { progress: 80, progress_message: 'most' };
    expect(await stored(on, attempt)).toMatchObject({ job: written, attempts: [written] });
  });

  test('a settlement never takes progress back, and keeps the message where it brings none', async () => {
    const attempt = await aRunningJob(on);
    await on.store.progress([{ ...attempt, value: 30, message: 'a third' }]);

    await on.store.settle([succeeded(attempt, { progress: { value: 20, message: null } })]);

    const kept = { progress: 30, progress_message: 'a third' };
    expect(await stored(on, attempt)).toMatchObject({ job: kept, attempts: [kept] });
  });

  test('a success keeps the last error of earlier attempts, and clears the reason', async () => {
    const first = await aRunningJob(on);
    await on.store.settle([rescheduled(first, { error: 'mailbox busy' })]);
    const second = await start(on, keyOf(first));

    await on.store.settle([succeeded(second)]);

    const { job, attempts } = await stored(on, second);
    expect(job).toMatchObject({
      state: 'succeeded',
      last_error: 'mailbox busy',
      failure_reason: null,
      failure_count: 1,
    });
    expect(attempts).toMatchObject([
      { state: 'failed', error: 'mailbox busy' },
      { state: 'succeeded', error: null },
    ]);
  });

  test('a snooze gives its start back, as often as it happens', async () => {
    const first = await aRunningJob(on, { maxAttempts: 1 });
    await on.store.settle([snoozed(first)]);
    const second = await start(on, keyOf(first));
    await on.store.settle([snoozed(second)]);
    const third = await start(on, keyOf(first));

    expect(third.attempt).toBe(3);
    expect((await stored(on, third)).job).toMatchObject({ attempt_limit: 3, attempt_count: 3, max_attempts: 1 });
  });

  test('a job is not rescheduled beyond its starts: the table refuses it and nothing is written', async () => {
    const attempt = await aRunningJob(on, { maxAttempts: 1 });
    const before = await stored(on, attempt);

    await expect(on.store.settle([rescheduled(attempt)])).rejects.toThrow(/check/i);

    expect(await stored(on, attempt)).toEqual(before);
  });

  describe('asked again, because the first answer was lost', () => {
    test.each(outcomeNames)('"%s" is settled, and nothing is written twice', async outcome => {
      const attempt = await aRunningJob(on);
      const settlement = { ...outcomes[outcome](attempt), progress: { value: 50, message: 'half' } };
      const first = await on.store.settle([settlement]);
      const before = await stored(on, attempt);
      on.clock.advance(5000);

      expect(await on.store.settle([settlement])).toEqual(first);

      expect(await stored(on, attempt)).toEqual(before);
    });

    test.each(outcomeNames)('"%s" that met a cancel is settled as cancelled again', async outcome => {
      const attempt = await aRunningJob(on);
      await on.store.cancel(keyOf(attempt), {});
      await on.store.settle([outcomes[outcome](attempt)]);

      expect(await on.store.settle([outcomes[outcome](attempt)])).toEqual([{ answer: 'settled', state: 'cancelled' }]);
    });

    test.each(['rescheduled', 'snoozed'] as const)('"%s" is settled also after the next start', async outcome => {
      const attempt = await aRunningJob(on);
      await on.store.settle([outcomes[outcome](attempt)]);
      await start(on, keyOf(attempt));

      expect(await on.store.settle([outcomes[outcome](attempt)])).toEqual([{ answer: 'settled', state: 'queued' }]);
    });

    test.each(['failed', 'interrupted'] as const)('"%s" is settled also after a retry', async outcome => {
      const attempt = await aRunningJob(on);
      await on.store.settle([outcomes[outcome](attempt)]);
      await on.store.retry(keyOf(attempt), {});

      expect(await on.store.settle([outcomes[outcome](attempt)])).toEqual([{ answer: 'settled', state: outcome }]);
    });

    test.each(
      outcomeNames.flatMap(first =>
        outcomeNames.filter(second => second !== first).map(second => [first, second] as const),
      ),
    )('an attempt that ended as %s does not end as %s', async (first, second) => {
      const attempt = await aRunningJob(on);
      const errors = { failureReason: 'handler_error', error: 'the same' } as const;
      await on.store.settle([{ ...outcomes[first](attempt), ...errors } as Settlement]);
      const before = await stored(on, attempt);

      const answers = await on.store.settle([{ ...outcomes[second](attempt), ...errors } as Settlement]);

      expect(answers).toEqual([{ answer: 'lost' }]);
      expect(await stored(on, attempt)).toEqual(before);
    });

    test('another result is not the one that was settled', async () => {
      const attempt = await aRunningJob(on);
      await on.store.settle([succeeded(attempt, { resultRef: 'mail/1' })]);

      const answers = await on.store.settle([succeeded(attempt, { resultRef: 'mail/2' })]);

      expect(answers).toEqual([{ answer: 'lost' }]);
    });

    test('an attempt that recovery interrupted and queued again did not end as interrupted for its own executor', async () => {
      const attempt = await aRunningJob(on);
      await on.store.recover([attempt], { requeue: 'always', reason: 'shutdown' });

      const answers = await on.store.settle([
        ended(attempt, 'interrupted', { failureReason: 'shutdown', error: null }),
      ]);

      expect(answers).toEqual([{ answer: 'lost' }]);
    });
  });

  test('each settlement of a group is judged by itself', async () => {
    const [fine, lost, missing, cancelled, snooze] = await someRunningJobs(on, 5);
    await on.store.recover([lost!], { requeue: 'never', reason: 'lease_lapsed' });
    await deleteAttempts(on.orm, missing!);
    await on.store.cancel(keyOf(cancelled!), {});
    const before = { lost: await stored(on, lost!), missing: await stored(on, missing!) };

    const answers = await on.store.settle([
      succeeded(lost!),
      succeeded(missing!),
      succeeded({ scope: 'nowhere', id: 'nobody', attempt: 1, token: fine!.token }),
      succeeded(fine!),
      succeeded(cancelled!),
      snoozed(snooze!),
    ]);

    expect(answers).toEqual([
      { answer: 'lost' },
      { answer: 'attempt_missing' },
      { answer: 'lost' },
      { answer: 'settled', state: 'succeeded' },
      { answer: 'settled', state: 'cancelled' },
      { answer: 'settled', state: 'queued' },
    ]);
    expect({ lost: await stored(on, lost!), missing: await stored(on, missing!) }).toEqual(before);
    expect((await stored(on, fine!)).job).toMatchObject({ state: 'succeeded' });
  });

  test('of two settlements of one attempt in a group the first one counts', async () => {
    const [twice, differing] = await someRunningJobs(on, 2);

    const answers = await on.store.settle([
      succeeded(twice!),
      ended(differing!, 'failed'),
      succeeded(differing!),
      succeeded(twice!),
    ]);

    expect(answers).toEqual([
      { answer: 'settled', state: 'succeeded' },
      { answer: 'settled', state: 'failed' },
      { answer: 'lost' },
      { answer: 'settled', state: 'succeeded' },
    ]);
    expect(await stored(on, differing!)).toMatchObject({
      job: { state: 'failed', result_ref: null, failure_count: 1, revision: 3 },
      attempts: [{ state: 'failed', result_ref: null }],
    });
  });

  test('a group without settlements is answered without asking the database', async () => {
    expect(await on.store.settle([])).toEqual([]);
  });

  test('a group of a thousand is settled at once', async () => {
    const attempts = await someRunningJobs(on, 1000);

    const answers = await on.store.settle(attempts.map(attempt => succeeded(attempt)));

    expect(answers.filter(({ answer }) => answer === 'settled')).toHaveLength(1000);
    expect(await countJobs(on, 'succeeded')).toBe(1000);
  });

  test('a running job whose attempt has ended already is not settled', async () => {
    const attempt = await aRunningJob(on);
    await on.store.settle([succeeded(attempt)]);
    await setColumns(on.orm, attempt, {
      state: 'running',
      attempt_token: attempt.token,
      executor_id: 'executor-1',
      finished_at: null,
    });
    const before = await stored(on, attempt);

    const answers = await on.store.settle([succeeded(attempt)]);

    expect(answers).toEqual([{ answer: 'lost' }]);
    expect(await stored(on, attempt)).toEqual(before);
  });
});
