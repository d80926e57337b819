import { assert } from '../assert.ts';
import type { OnInterrupt } from '../../core/submission.ts';
import {
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
import { aClaim, anExecutor, aReport, buildReport, keyOf, rescheduled, runningOf } from '../builders.ts';
import { fact, group } from '../fact.ts';

type Requeue = 'declared' | 'always' | 'never';

const always = { requeue: 'always', reason: 'shutdown' } as const;

/** What a recovery makes of a job: [asked, declared, starts left, state]. */
const decisions: ReadonlyArray<readonly [Requeue, OnInterrupt, boolean, 'queued' | 'interrupted']> = [
  ['declared', 'requeue', true, 'queued'],
  ['declared', 'requeue', false, 'interrupted'],
  ['declared', 'hold', true, 'interrupted'],
  ['declared', 'hold', false, 'interrupted'],
  ['always', 'requeue', true, 'queued'],
  ['always', 'requeue', false, 'interrupted'],
  ['always', 'hold', true, 'queued'],
  ['always', 'hold', false, 'interrupted'],
  ['never', 'requeue', true, 'interrupted'],
  ['never', 'requeue', false, 'interrupted'],
  ['never', 'hold', true, 'interrupted'],
  ['never', 'hold', false, 'interrupted'],
];

export const recovering = group('Recovering', [
  decisions.map(([requeue, onInterrupt, hasStarts, state]) =>
    fact(
      `a job that is to ${onInterrupt}, ${hasStarts ? 'with starts left' : 'with its starts spent'}, recovered with "${requeue}", is ${state}`,
      async on => {
        const attempt = await started(on, { onInterrupt, maxAttempts: hasStarts ? 2 : 1 });

        assert.deepEqual(await on.store.recover([attempt], { requeue, reason: 'instance_restart' }), [state]);

        assertHas(await jobOf(on, attempt), { state, failureReason: 'instance_restart' });
      },
    ),
  ),

  (['declared', 'always', 'never'] as const).map(requeue =>
    fact(`a job with a cancel mark, recovered with "${requeue}", is cancelled`, async on => {
      const attempt = await started(on, { onInterrupt: 'requeue' });
      await on.store.cancel(keyOf(attempt), {});
      on.clock.advance(5000);

      assert.deepEqual(await on.store.recover([attempt], { requeue, reason: 'shutdown' }), ['cancelled']);

      assertHas(await jobOf(on, attempt), {
        state: 'cancelled',
        failureReason: 'cancel_requested',
        finishedAt: on.clock.date(),
      });
      assertHas(await attemptOf(on, attempt), { state: 'cancelled', failureReason: 'cancel_requested' });
    }),
  ),

  fact('a recovered attempt has ended as interrupted, without an error and with the progress that it had', async on => {
    const attempt = await started(on);
    await on.store.progress([aReport(attempt, 40, 'page 4')]);
    on.clock.advance(5000);

    await on.store.recover([attempt], { requeue: 'always', reason: 'lease_lapsed' });

    assertHas(await attemptOf(on, attempt), {
      state: 'interrupted',
      failureReason: 'lease_lapsed',
      error: null,
      progress: 40,
      progressMessage: 'page 4',
      endedAt: on.clock.date(),
    });
  }),

  fact('a job that a recovery queues is due at once', async on => {
    const attempt = await started(on);
    on.clock.advance(5000);

    await on.store.recover([attempt], always);

    assertHas(await jobOf(on, attempt), { nextRunAt: on.clock.date(), finishedAt: null, attemptCount: 1 });
    assertHas(only((await on.store.claim(aClaim())).attempts), { ...keyOf(attempt), attempt: 2 });
  }),

  fact('a job that a recovery holds has finished', async on => {
    const attempt = await started(on);
    on.clock.advance(5000);

    await on.store.recover([attempt], { requeue: 'never', reason: 'shutdown' });

    assertHas(await jobOf(on, attempt), { finishedAt: on.clock.date(), attemptCount: 1, resultRef: null });
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
  }),

  fact('a job that a recovery ends keeps the instant at which it was due', async on => {
    const [held, cancelled] = [await started(on), await started(on)];
    await on.store.cancel(keyOf(cancelled), {});
    const due = [(await jobOf(on, held)).nextRunAt, (await jobOf(on, cancelled)).nextRunAt];
    on.clock.advance(5000);

    await on.store.recover([held], { requeue: 'never', reason: 'shutdown' });
    await on.store.recover([cancelled], always);

    assert.deepEqual([(await jobOf(on, held)).nextRunAt, (await jobOf(on, cancelled)).nextRunAt], due);
  }),

  fact('a recovery counts as a start, and never as a failure', async on => {
    const job = await submitted(on, { maxAttempts: 2 });
    await on.store.recover([await startOf(on, job)], always);
    assertHas(await jobOf(on, job), { state: 'queued', attemptCount: 1, failureCount: 0 });

    assert.deepEqual(await on.store.recover([await startOf(on, job)], always), ['interrupted']);
    assertHas(await jobOf(on, job), { attemptCount: 2, failureCount: 0 });
    assert.deepEqual(await attemptStatesOf(on, job), ['interrupted', 'interrupted']);
  }),

  fact('a recovery keeps the failures before it, and their last error', async on => {
    const job = await submitted(on);
    await settled(on, rescheduled(await startOf(on, job), on.clock.now(), { error: 'busy' }));

    await on.store.recover([await startOf(on, job)], always);

    assertHas(await jobOf(on, job), { failureCount: 1, lastError: 'busy' });
  }),

  fact('recoveries are answered in their position, each judged by itself', async on => {
    const [first, stale, cancelled, spent] = [
      await started(on),
      await started(on),
      await started(on),
      await started(on, { maxAttempts: 1 }),
    ];
    await on.store.release([stale]);
    await on.store.cancel(keyOf(cancelled), {});

    assert.deepEqual(await on.store.recover([first, stale, cancelled, spent], always), [
      'queued',
      'lost',
      'cancelled',
      'interrupted',
    ]);
    assert.deepEqual(await on.store.recover([], always), []);
  }),

  fact('an attempt that is named twice in a group is ended once', async on => {
    const [recovered, released] = [await started(on), await started(on)];

    assert.deepEqual(await on.store.recover([recovered, recovered], always), ['queued', 'lost']);
    assert.deepEqual(await on.store.release([released, released]), ['released', 'lost']);
    assertHas(await jobOf(on, released), { attemptCount: 0, state: 'queued' });
  }),

  fact(
    'an attempt whose record is gone is not recovered, and the answer says why',
    { needs: ['deleteAttempt'] },
    async on => {
      const [missing, other] = [await started(on), await started(on)];
      await on.deleteAttempt(missing);

      const answer = await assertUnchanged(on, missing, () => on.store.recover([missing, other], always));

      assert.deepEqual(answer, ['attempt_missing', 'queued']);
    },
  ),

  fact('of eight who recover one attempt at once, one does', async on => {
    const handles = await on.handles(8);

    for (let round = 0; round < 3; round++) {
      const attempt = await started(on, { notBefore: on.clock.date() });
      const answers = await Promise.all(handles.map(({ store }) => store.recover([attempt], always)));

      assert.equal(answers.flat().filter(answer => answer === 'queued').length, 1);
      assert.equal(answers.flat().filter(answer => answer === 'lost').length, 7);
      assertHas(await jobOf(on, attempt), { state: 'queued', attemptCount: 1 });
    }
  }),

  fact('nobody ever sees a job between its interruption and its queue', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 5; round++) {
      const attempt = await started(on);
      let isOver = false;
      const seen = new Set<string>();
      const look = async () => {
        while (!isOver) {
          seen.add((await jobOf(b!, attempt)).state);
          await new Promise(resolve => setImmediate(resolve));
        }
      };
      const looking = look();
      await a!.store.recover([attempt], always);
      isOver = true;
      await looking;

      seen.add((await jobOf(b!, attempt)).state);
      assert.deepEqual(
        [...seen].filter(state => state !== 'running'),
        ['queued'],
      );
    }
  }),

  fact('who recovers what lapsed is told which attempts, and what has become of their jobs', async on => {
    await on.store.register(anExecutor({ id: 'leased', leaseUntil: on.clock.now() + 60_000_000 }));
    const held = await started(on, { scope: 'tenant', queue: 'slow' }, 'leased');
    const requeued = await started(on, { onInterrupt: 'requeue', definition: buildReport }, 'leased');
    on.clock.advance(60_000);

    const { recovered } = await on.store.recoverLapsed(10);

    assert.deepEqual(
      [...recovered].sort((a, b) => (a.state < b.state ? -1 : 1)),
      [
        { attempt: runningOf(held, 'leased', 'hold'), state: 'interrupted' },
        { attempt: runningOf(requeued, 'leased', 'requeue'), state: 'queued' },
      ],
    );
  }),
]);
