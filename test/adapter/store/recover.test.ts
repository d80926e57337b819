import { expect, test } from '@jest/globals';
import { useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aRunningJob, keyOf, rescheduled, someRunningJobs, start, stored } from './given.ts';

const requeues = ['declared', 'always', 'never'] as const;
const choices = ['hold', 'requeue'] as const;

const cases = requeues.flatMap(requeue =>
  choices.flatMap(onInterrupt =>
    [false, true].flatMap(isCancelled =>
      [true, false].map(hasStartsLeft => ({
        requeue,
        onInterrupt,
        isCancelled,
        hasStartsLeft,
        mark: isCancelled ? 'a cancel mark' : 'no cancel mark',
        left: hasStartsLeft ? 'starts left' : 'no starts left',
        state: stateFor(requeue, onInterrupt, isCancelled, hasStartsLeft),
      })),
    ),
  ),
);

function stateFor(
  requeue: (typeof requeues)[number],
  onInterrupt: (typeof choices)[number],
  isCancelled: boolean,
  hasStartsLeft: boolean,
) {
  if (isCancelled) return 'cancelled';
  if (!hasStartsLeft || requeue === 'never') return 'interrupted';

  return requeue === 'always' || onInterrupt === 'requeue' ? 'queued' : 'interrupted';
}

forEachDriver(driver => {
  const on = useJobs(driver);

  test.each(cases)(
    'recover "$requeue" of a job that says $onInterrupt, with $mark and $left: $state',
    async ({ requeue, onInterrupt, isCancelled, hasStartsLeft, state }) => {
      const attempt = await aRunningJob(on, {
        onInterrupt,
        maxAttempts: hasStartsLeft ? 2 : 1,
        uniqueKey: 'invoice-7',
      });
      await on.store.progress([{ ...attempt, value: 40, message: 'on its way' }]);
      if (isCancelled) await on.store.cancel(keyOf(attempt), { reason: 'not needed' });
      const before = await stored(on, attempt);
      on.clock.advance(5000);

      expect(await on.store.recover([attempt], { requeue, reason: 'lease_lapsed' })).toEqual([state]);

      const now = on.clock.now();
      const failureReason = isCancelled ? 'cancel_requested' : 'lease_lapsed';
      const isQueued = state === 'queued';
      expect(await stored(on, attempt)).toEqual({
        job: {
          ...before.job,
          state,
          attempt_token: null,
          executor_id: null,
          next_run_at: isQueued ? now : before.job!.next_run_at,
          failure_reason: failureReason,
          finished_at: isQueued ? null : now,
          unique_hash: isQueued ? before.job!.unique_hash : null,
          revision: Number(before.job!.revision) + 1,
        },
        attempts: [
          {
            ...before.attempts[0],
            state: isCancelled ? 'cancelled' : 'interrupted',
            failure_reason: failureReason,
            ended_at: now,
          },
        ],
      });
    },
  );

  test('a start that was recovered counts: with two allowed there is no third', async () => {
    const first = await aRunningJob(on, { maxAttempts: 2 });
    await on.store.recover([first], { requeue: 'always', reason: 'shutdown' });
    const second = await start(on, keyOf(first));

    expect(await on.store.recover([second], { requeue: 'always', reason: 'shutdown' })).toEqual(['interrupted']);

    on.clock.advance(1000);
    expect(await on.store.tryStart(keyOf(first), 'executor-1')).toBeNull();
    expect((await stored(on, first)).attempts.map(({ state }) => state)).toEqual(['interrupted', 'interrupted']);
  });

  test('a recovered job is due at once, also where it had waited for a retry before', async () => {
    const first = await aRunningJob(on);
    await on.store.settle([rescheduled(first, { nextRunAt: on.clock.now() + 1000 })]);
    const second = await start(on, keyOf(first));

    await on.store.recover([second], { requeue: 'always', reason: 'shutdown' });

    expect(await on.store.tryStart(keyOf(first), 'executor-2')).toMatchObject({
      attempt: 3,
      scheduledFor: on.clock.now(),
    });
  });

  test('an interruption is no failure and keeps the last error', async () => {
    const first = await aRunningJob(on);
    await on.store.settle([rescheduled(first, { error: 'mailbox busy' })]);
    const second = await start(on, keyOf(first));

    await on.store.recover([second], { requeue: 'never', reason: 'shutdown' });

    expect((await stored(on, first)).job).toMatchObject({ failure_count: 1, last_error: 'mailbox busy' });
  });

  test('a group is recovered at once, each by its own row', async () => {
    const held = await someRunningJobs(on, 2, { onInterrupt: 'hold' });
    const requeued = await someRunningJobs(on, 2, { onInterrupt: 'requeue' });
    await on.store.cancel(keyOf(requeued[1]!), {});

    const answers = await on.store.recover(
      [requeued[1]!, held[0]!, { ...held[1]!, token: 'stale' }, requeued[0]!, held[1]!],
      { requeue: 'declared', reason: 'instance_restart' },
    );

    expect(answers).toEqual(['cancelled', 'interrupted', 'lost', 'queued', 'interrupted']);
  });

  test('the same attempt is recovered once', async () => {
    const attempt = await aRunningJob(on);
    const how = { requeue: 'always', reason: 'shutdown' } as const;

    expect(await on.store.recover([attempt, attempt], how)).toEqual(['queued', 'lost']);
    expect(await on.store.recover([attempt], how)).toEqual(['lost']);
    expect((await stored(on, attempt)).job).toMatchObject({ attempt_count: 1, revision: 3 });
  });

  test('a group without attempts is answered without asking the database', async () => {
    expect(await on.store.recover([], { requeue: 'always', reason: 'shutdown' })).toEqual([]);
  });
});
