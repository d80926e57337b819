import { assert } from '../assert.ts';
import type { JobState } from '../../core/states.ts';
import { microsOf } from '../../core/time.ts';
import {
  aFamily,
  aJobIn,
  assertHas,
  assertUnchanged,
  background,
  idsOf,
  jobOf,
  only,
  settled,
  settlements,
  started,
  stateOf,
  statesOf,
  submitted,
} from '../arrange.ts';
import { aClaim, anExecutor, aSubmission, failed, interrupted, keyOf, succeeded } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const always = { requeue: 'always', reason: 'shutdown' } as const;

/** What becomes of a job whose parent is there already: [state of the parent, state of the child]. */
const inserts: ReadonlyArray<readonly [JobState, JobState]> = [
  ['queued', 'awaiting'],
  ['running', 'awaiting'],
  ['interrupted', 'awaiting'],
  ['succeeded', 'queued'],
  ['failed', 'cancelled'],
  ['cancelled', 'cancelled'],
];

export const continuations = group('Continuations', [
  inserts.map(([parentState, state]) =>
    fact(`a job whose parent is ${parentState} is ${state} when its submission is answered`, async on => {
      const parent = await aJobIn(on, parentState, { definition: background });
      const child = aSubmission({ after: [parent] });

      const { job, created } = only(await on.store.submit([child]));

      assert.deepEqual([job.state, created], [state, true]);
      assert.equal(await stateOf(on, child), state);
    }),
  ),

  fact('a job that is cancelled at its submission has finished, because of its parent', async on => {
    const parent = await aJobIn(on, 'failed');
    const child = aSubmission({ after: [parent] });

    const { job } = only(await on.store.submit([child]));

    assertHas(job, { failureReason: 'cancelled_by_parent', finishedAt: on.clock.date(), attemptCount: 0 });
    assert.deepEqual(job, await jobOf(on, child));
  }),

  fact('a job that awaits its parents is not claimed, however long it has been due', async on => {
    const child = await aJobIn(on, 'awaiting', { notBefore: new Date('2001-01-01') });
    on.clock.advance(365 * 86_400_000);

    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
    assert.equal(await stateOf(on, child), 'awaiting');
  }),

  fact('the success of its parent queues a job, and it is due', async on => {
    const [parent, child] = await aFamily(on);
    on.clock.advance(5000);

    await settled(on, succeeded(parent));

    assertHas(await jobOf(on, child), { state: 'queued', attemptCount: 0, finishedAt: null, failureReason: null });
    assert.deepEqual(idsOf((await on.store.claim(aClaim())).attempts), [child.id]);
  }),

  fact('a job whose parents have succeeded is due since it was submitted, not since they ended', async on => {
    const [parent, child] = await aFamily(on);
    const { nextRunAt } = await jobOf(on, child);
    assert.deepEqual(nextRunAt, on.clock.date());
    on.clock.advance(5000);

    await settled(on, succeeded(parent));

    assertHas(await jobOf(on, child), { state: 'queued', nextRunAt });
  }),

  fact('a job that has a not-before waits for it also after its parents', async on => {
    const parent = await started(on);
    const notBefore = new Date('2030-06-01T00:00:00Z');
    const child = await submitted(on, { after: [keyOf(parent)], notBefore });
    await settled(on, succeeded(parent));

    assertHas(await jobOf(on, child), { state: 'queued', nextRunAt: notBefore });
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
    on.clock.set(microsOf(notBefore));
    assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
  }),

  fact('the failure of its parent cancels a job, at once and without a start', async on => {
    const [parent, child] = await aFamily(on);
    on.clock.advance(5000);

    await settled(on, failed(parent));

    assertHas(await jobOf(on, child), {
      state: 'cancelled',
      failureReason: 'cancelled_by_parent',
      finishedAt: on.clock.date(),
      attemptCount: 0,
    });
  }),

  fact('the cancel of its parent in the queue cancels a job', async on => {
    const parent = await submitted(on);
    const child = await submitted(on, { after: [parent] });

    await on.store.cancel(keyOf(parent), {});

    assertHas(await jobOf(on, child), { state: 'cancelled', failureReason: 'cancelled_by_parent' });
  }),

  (
    [
      ['its settlement', (on, parent) => settled(on, succeeded(parent))],
      ['its release', (on, parent) => on.store.release([parent])],
      ['its recovery', (on, parent) => on.store.recover([parent], always)],
    ] as ReadonlyArray<[string, (on: FactContext, parent: Awaited<ReturnType<typeof started>>) => Promise<unknown>]>
  ).map(([how, end]) =>
    fact(`a job whose parent becomes cancelled by ${how} is cancelled`, async on => {
      const [parent, child] = await aFamily(on);
      await on.store.cancel(keyOf(parent), {});
      assert.equal(await stateOf(on, child), 'awaiting', 'the parent still runs');

      await end(on, parent);

      assert.deepEqual(await statesOf(on, [parent, child]), ['cancelled', 'cancelled']);
    }),
  ),

  fact('a job whose parent becomes cancelled with its lapsed executor is cancelled', async on => {
    await on.store.register(anExecutor({ id: 'leased', leaseUntil: on.clock.now() + 1000 }));
    const parent = await started(on, {}, 'leased');
    const child = await submitted(on, { after: [keyOf(parent)] });
    await on.store.cancel(keyOf(parent), {});
    on.clock.advance(60_000);

    await on.store.recoverLapsed(10);

    assert.deepEqual(await statesOf(on, [parent, child]), ['cancelled', 'cancelled']);
  }),

  (
    [
      ['rescheduled', (on, parent) => settled(on, settlements.rescheduled(parent))],
      ['snoozed', (on, parent) => settled(on, settlements.snoozed(parent))],
      ['released', (on, parent) => on.store.release([parent])],
      ['recovered and queued', (on, parent) => on.store.recover([parent], always)],
      ['interrupted', (on, parent) => settled(on, interrupted(parent))],
    ] as ReadonlyArray<[string, (on: FactContext, parent: Awaited<ReturnType<typeof started>>) => Promise<unknown>]>
  ).map(([how, end]) =>
    fact(`a job whose parent is ${how} goes on waiting`, async on => {
      const [parent, child] = await aFamily(on);

      await assertUnchanged(on, child, async () => {
        await end(on, parent);
        assert.deepEqual(await on.store.resolve({ limit: 10 }), { queued: 0, cancelled: 0 });
      });
    }),
  ),

  fact('a success queues direct children only', async on => {
    const [parent, child] = await aFamily(on);
    const grandchild = await submitted(on, { after: [child] });

    await settled(on, succeeded(parent));

    assert.deepEqual(await statesOf(on, [child, grandchild]), ['queued', 'awaiting']);
  }),

  fact('what a job waits for is not part of the request: the same one again is the stored job', async on => {
    const [, child] = await aFamily(on);

    const answer = await assertUnchanged(on, child, () => on.store.submit([aSubmission({ id: child.id })]));

    assertHas(only(answer), { created: false, matched: 'identity' });
  }),

  fact('a cancel of a job that awaits its parents leaves these alone', async on => {
    const [parent, child] = await aFamily(on);

    await assertUnchanged(on, parent, () => on.store.cancel(child, {}));
    await settled(on, succeeded(parent));

    assert.equal(await stateOf(on, child), 'cancelled');
  }),

  fact('a submission that waits touches nothing that runs but its own parents', async on => {
    const mine = await started(on, { scope: 'mine', id: 'parent' });
    const others = [
      await started(on, { scope: 'mine', id: 'other' }),
      await started(on, { scope: 'theirs', id: 'parent' }),
    ];
    await submitted(on, { scope: 'mine', id: 'other-child', after: [keyOf(others[0]!)] });
    await submitted(on, { scope: 'theirs', id: 'child', after: [keyOf(others[1]!)] });
    const before = await Promise.all(others.map(other => jobOf(on, other)));

    await submitted(on, { scope: 'mine', id: 'child', after: [keyOf(mine)] });

    assert.deepEqual(await Promise.all(others.map(other => jobOf(on, other))), before);
  }),
]);
