import assert from 'node:assert/strict';
import type { JobState } from '../../core/states.ts';
import { microsOf } from '../../core/time.ts';
import {
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
  startOf,
  statesOf,
  stateOf,
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

  fact('a job goes on when its interrupted parent was retried and succeeded', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, interrupted(parent));
    await on.store.retry(keyOf(parent), {});

    await settled(on, succeeded(await startOf(on, parent)));

    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a job with several parents waits for the last of them, whichever it is', async on => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
    ]) {
      const parents = [await started(on), await started(on), await started(on)];
      const child = await submitted(on, { after: parents.map(keyOf), definition: background });

      for (const [index, turn] of order.entries()) {
        await settled(on, succeeded(parents[turn]!));
        assert.equal(await stateOf(on, child), index === 2 ? 'queued' : 'awaiting', `after ${index + 1} of 3`);
      }
    }
  }),

  fact('a job with several parents goes on when all of them succeed in one settlement', async on => {
    const parents = [await started(on), await started(on), await started(on)];
    const child = await submitted(on, { after: parents.map(keyOf) });

    await on.store.settle(parents.map(parent => succeeded(parent)));

    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a job with several parents is cancelled with the first that fails, while others still run', async on => {
    const [done, failing, running] = [await started(on), await started(on), await started(on)];
    const child = await submitted(on, { after: [done, failing, running].map(keyOf) });
    await settled(on, succeeded(done));

    await settled(on, failed(failing));

    assert.equal(await stateOf(on, child), 'cancelled');
    assert.equal(await stateOf(on, running), 'running');
    await settled(on, succeeded(running));
    assert.equal(await stateOf(on, child), 'cancelled');
  }),

  fact('parents that have ended and parents that run may be mixed in one submission', async on => {
    const [done, running] = [await aJobIn(on, 'succeeded'), await started(on)];
    const child = await submitted(on, { after: [done, keyOf(running)] });
    assert.equal(await stateOf(on, child), 'awaiting');

    await settled(on, succeeded(running));

    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a job may have a hundred parents', async on => {
    const parents = Array.from({ length: 100 }, () => aSubmission());
    const child = aSubmission({ after: parents, definition: background });
    await on.store.submit([...parents, child]);
    const { attempts } = await on.store.claim(aClaim({ limit: 100 }));
    const [last, ...others] = attempts;

    await on.store.settle(others.map(attempt => succeeded(attempt)));
    assert.equal(await stateOf(on, child), 'awaiting');
    await settled(on, succeeded(last!));
    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a whole family may be submitted in one batch, in any order', async on => {
    const parent = aSubmission();
    const child = aSubmission({ after: [parent] });
    const grandchild = aSubmission({ after: [child, parent] });

    const results = await on.store.submit([grandchild, parent, child]);

    assert.deepEqual(
      results.map(({ job }) => job.state),
      ['awaiting', 'queued', 'awaiting'],
    );
    for (const key of [parent, child, grandchild]) {
      assert.deepEqual(idsOf((await on.store.claim(aClaim())).attempts), [key.id]);
      const [attempt] = await on.store.running({ limit: 1 });
      await settled(on, succeeded(attempt!));
    }
  }),

  fact('several jobs may wait for one parent: all of them go on', async on => {
    const parent = await started(on);
    const children = Array.from({ length: 20 }, () => aSubmission({ after: [keyOf(parent)] }));
    await on.store.submit(children);

    await settled(on, succeeded(parent));

    assert.deepEqual(new Set(await statesOf(on, children)), new Set(['queued']));
  }),

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

  fact('a retried job waits for its parents again where one of them is active', async on => {
    const parent = await submitted(on);
    const child = await submitted(on, { after: [parent] });
    await on.store.cancel(keyOf(parent), {});
    await on.store.retry(keyOf(parent), {});

    assert.equal(await on.store.retry(keyOf(child), {}), 'awaiting');

    assertHas(await jobOf(on, child), { state: 'awaiting', failureReason: null, finishedAt: null });
    await settled(on, succeeded(await startOf(on, parent)));
    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a retried job whose parent is interrupted waits for it', async on => {
    const [parent, child] = await aFamily(on);
    await on.store.cancel(child, {});
    await settled(on, interrupted(parent));

    assert.equal(await on.store.retry(child, {}), 'awaiting');
  }),

  fact('a retried job whose parents have succeeded is queued', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, succeeded(parent));
    await settled(on, failed(await startOf(on, child)));

    assert.equal(await on.store.retry(child, {}), 'queued');
    assert.equal(await stateOf(on, child), 'queued');
  }),

  (['failed', 'cancelled'] as const).map(state =>
    fact(`a job whose parent is ${state} is not retried`, async on => {
      const [parent, child] = await aFamily(on);
      if (state === 'cancelled') {
        await on.store.cancel(keyOf(parent), {});
      }
      await settled(on, failed(parent));
      assert.deepEqual(await statesOf(on, [parent, child]), [state, 'cancelled']);

      const answer = await assertUnchanged(on, child, () => on.store.retry(child, {}));

      assert.equal(answer, 'parents_not_succeeded');
    }),
  ),

  fact('jobs that were cancelled with their parent do not come back with its retry', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, failed(parent));
    await on.store.retry(keyOf(parent), {});
    await settled(on, succeeded(await startOf(on, parent)));
    await on.store.resolve({ limit: 10 });

    assert.equal(await stateOf(on, child), 'cancelled');
  }),

  fact('of jobs that are submitted while their parent succeeds, none is left waiting', async on => {
    await raceWithParent(on, succeeded, 'queued');
  }),

  fact('of jobs that are submitted while their parent fails, none is left waiting', async on => {
    await raceWithParent(on, failed, 'cancelled');
  }),

  fact('a job whose parents succeed at once is not left waiting', async on => {
    const handles = await on.handles(3);

    for (let round = 0; round < 8; round++) {
      const parents = [await started(on), await started(on), await started(on)];
      const child = await submitted(on, { after: parents.map(keyOf), definition: background });
      await Promise.all(handles.map(({ store }, index) => store.settle([succeeded(parents[index]!)])));
      await on.store.resolve({ limit: 10 });

      assert.equal(await stateOf(on, child), 'queued');
    }
  }),

  fact('a job of whose parents one succeeds and one fails at once is cancelled', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 8; round++) {
      const [good, bad] = [await started(on), await started(on)];
      const child = await submitted(on, { after: [keyOf(good), keyOf(bad)], definition: background });
      await Promise.all([a!.store.settle([succeeded(good)]), b!.store.settle([failed(bad)])]);
      await on.store.resolve({ limit: 10 });

      assert.equal(await stateOf(on, child), 'cancelled');
    }
  }),

  fact('of a cancel of a child and the success of its parent at once, the child ends cancelled', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 8; round++) {
      const [parent, child] = await aFamily(on);
      const [, answer] = await Promise.all([a!.store.settle([succeeded(parent)]), b!.store.cancel(child, {})]);

      assert.equal(answer, 'cancelled');
      assertHas(await jobOf(on, child), { state: 'cancelled', failureReason: 'cancel_requested' });
    }
  }),
]);

/** A parent that runs, and the job that waits for it. */
async function aFamily(on: FactContext) {
  const parent = await started(on);
  return [parent, keyOf(await submitted(on, { after: [keyOf(parent)] }))] as const;
}

/** At most one look at the parents later, as an executor has them looked at again and again, no child awaits an end that came. */
async function raceWithParent(
  on: FactContext,
  end: typeof succeeded | typeof failed,
  expected: JobState,
): Promise<void> {
  const handles = await on.handles(4);

  for (let round = 0; round < 8; round++) {
    const parent = await started(on);
    const children = handles.map(() => aSubmission({ after: [keyOf(parent)], definition: background }));
    await Promise.all(
      handles.map(async ({ store }, index) => {
        if (index === round % handles.length) {
          await store.settle([end(parent)]);
        }
        await store.submit([children[index]!]);
      }),
    );
    await on.store.resolve({ limit: 100 });

    assert.deepEqual(new Set(await statesOf(on, children)), new Set([expected]));
  }
}
