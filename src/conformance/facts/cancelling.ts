import { assert } from '../assert.ts';
import { finishedStates } from '../../core/states.ts';
import {
  aJobIn,
  assertHas,
  assertUnchanged,
  attemptOf,
  jobOf,
  settled,
  started,
  startOf,
  stateOf,
  submitted,
} from '../arrange.ts';
import { aClaim, keyOf, rescheduled, succeeded } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

/** Jobs that wait for something, and whose cancel is the end of it. */
const waiting: ReadonlyArray<
  readonly [what: string, make: (on: FactContext) => Promise<{ scope: string; id: string }>]
> = [
  ['due', on => aJobIn(on, 'queued')],
  ['scheduled', on => submitted(on, { notBefore: new Date('2031-01-01') })],
  ['awaiting its parents', on => aJobIn(on, 'awaiting')],
];

export const cancelling = group('Cancelling', [
  waiting.map(([what, make]) =>
    fact(`a job that is ${what} is cancelled at once, without a start`, async on => {
      const key = keyOf(await make(on));
      on.clock.advance(5000);

      assert.equal(await on.store.cancel(key, { reason: 'no longer wanted' }), 'cancelled');

      assertHas(await jobOf(on, key), {
        state: 'cancelled',
        failureReason: 'cancel_requested',
        cancelReason: 'no longer wanted',
        cancelRequestedAt: on.clock.date(),
        finishedAt: on.clock.date(),
        attemptCount: 0,
      });
      assert.deepEqual(await on.store.attempts(key), []);
    }),
  ),

  fact('a job that waits for its retry is cancelled at once, and keeps its starts and failures', async on => {
    const attempt = await started(on);
    await settled(on, rescheduled(attempt, on.clock.now() + 60_000_000));

    assert.equal(await on.store.cancel(keyOf(attempt), {}), 'cancelled');

    assertHas(await jobOf(on, attempt), { state: 'cancelled', attemptCount: 1, failureCount: 1 });
    assertHas(await attemptOf(on, attempt), { state: 'failed' });
  }),

  fact('a running job only gets the mark, and goes on', async on => {
    const attempt = await started(on);
    on.clock.advance(5000);
    const { revision: _, ...before } = await jobOf(on, attempt);

    assert.equal(await on.store.cancel(keyOf(attempt), { reason: 'stop' }), 'requested');

    const { revision: __, ...after } = await jobOf(on, attempt);
    assert.deepEqual(after, { ...before, cancelRequestedAt: on.clock.date(), cancelReason: 'stop' });
    assertHas(await attemptOf(on, attempt), { state: 'running', endedAt: null });
  }),

  (['queued', 'awaiting', 'running'] as const).map(state =>
    fact(`cancelling again a job that was ${state} changes nothing and answers the same`, async on => {
      const key = await aJobIn(on, state);
      const first = await on.store.cancel(key, { reason: 'first', actor: 'ann' });
      on.clock.advance(5000);

      const second = await assertUnchanged(on, key, () => on.store.cancel(key, { reason: 'second', actor: 'bob' }));

      assert.equal(second, first);
    }),
  ),

  finishedStates
    .filter(state => state !== 'cancelled')
    .map(state =>
      fact(`a job that is ${state} is not cancelled`, async on => {
        const key = await aJobIn(on, state);

        assert.equal(await assertUnchanged(on, key, () => on.store.cancel(key, { actor: 'ann' })), 'finished');
      }),
    ),

  fact('an unknown job is not found by a cancel', async ({ store }) => {
    assert.equal(await store.cancel({ scope: '', id: 'nobody' }, {}), 'not_found');
  }),

  fact('a cancel without a reason has none', async on => {
    const key = await aJobIn(on, 'queued');
    await on.store.cancel(key, {});

    assert.equal((await jobOf(on, key)).cancelReason, null);
  }),

  fact('a job that was cancelled is not started any more', async on => {
    const key = await aJobIn(on, 'queued');
    await on.store.cancel(key, {});

    await assertUnchanged(on, key, async () => {
      assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
      assert.equal(await on.store.tryStart(key, 'executor-1'), null);
    });
  }),

  fact('a cancel in the queue costs no start', async on => {
    const job = await submitted(on, { maxAttempts: 1 });
    await on.store.cancel(keyOf(job), {});
    assert.equal(await on.store.retry(keyOf(job), {}), 'queued');

    assertHas(await startOf(on, job), { attempt: 1 });
  }),

  fact('a success that was committed first stays, with its result', async on => {
    const attempt = await started(on);
    await settled(on, succeeded(attempt, { resultRef: 'mail/1' }));

    assert.equal(await on.store.cancel(keyOf(attempt), {}), 'finished');

    assertHas(await jobOf(on, attempt), { state: 'succeeded', resultRef: 'mail/1', cancelRequestedAt: null });
  }),

  fact(
    'of a cancel and a claim at once the job has one fate: cancelled unstarted, or running with the mark',
    async on => {
      const [a, b] = await on.handles(2);

      for (let round = 0; round < 15; round++) {
        const job = await submitted(on);
        const claim = () => a!.store.claim(aClaim());
        const cancel = () => b!.store.cancel(keyOf(job), {});
        const [answer, { attempts }] =
          round % 2
            ? await Promise.all([cancel(), claim()])
            : await Promise.all([claim(), cancel()]).then(([claimed, cancelled]) => [cancelled, claimed] as const);

        const isRunning = attempts.length === 1;
        assert.equal(answer, isRunning ? 'requested' : 'cancelled');
        const { state, cancelRequestedAt, attemptCount } = await jobOf(on, job);
        assert.deepEqual([state, attemptCount], isRunning ? ['running', 1] : ['cancelled', 0]);
        assert.ok(cancelRequestedAt);
        await on.store.settle(attempts.map(attempt => succeeded(attempt)));
        assert.equal(await stateOf(on, job), 'cancelled');
      }
    },
  ),

  fact('of eight who cancel one job at once, all get the same answer', async on => {
    const handles = await on.handles(8);
    const [queued, running] = [await aJobIn(on, 'queued'), await aJobIn(on, 'running')];

    const answers = await Promise.all(
      handles.flatMap(({ store }) => [store.cancel(queued, {}), store.cancel(running, {})]),
    );

    assert.deepEqual(new Set(answers.filter((_, index) => index % 2 === 0)), new Set(['cancelled']));
    assert.deepEqual(new Set(answers.filter((_, index) => index % 2 === 1)), new Set(['requested']));
  }),
]);
