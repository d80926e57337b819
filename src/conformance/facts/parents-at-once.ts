import { assert } from '../assert.ts';
import type { JobState } from '../../core/states.ts';
import { aFamily, assertHas, background, jobOf, started, stateOf, statesOf, submitted } from '../arrange.ts';
import { aSubmission, failed, keyOf, succeeded } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

export const parentsAtOnce = group('Parents and children at once', [
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
