import { assert } from '../assert.ts';
import type { JobKey } from '../../core/job-key.ts';
import { assertHas, assertUnchanged, idsOf, jobOf, only, started, stateOf, statesOf, submitted } from '../arrange.ts';
import { keyOf } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const jobDeleted = { needs: ['deleteJob'] } as const;

export const resolving = group('Looking at parents again', [
  fact('where nothing can move, nothing is moved', async on => {
    const parent = await started(on);
    const child = await submitted(on, { after: [keyOf(parent)] });

    await assertUnchanged(on, child, async () => {
      assert.deepEqual(await on.store.resolve({ limit: 10 }), { queued: 0, cancelled: 0 });
      assert.deepEqual(await on.store.resolve({ keys: [keyOf(child)], limit: 10 }), { queued: 0, cancelled: 0 });
      assert.deepEqual(await on.store.resolve({ keys: [], limit: 10 }), { queued: 0, cancelled: 0 });
    });
  }),

  fact(
    'a job whose parent is gone is cancelled by the next look, with all that waits below it',
    jobDeleted,
    async on => {
      const [orphan, grandchild] = await anOrphan(on);
      on.clock.advance(5000);

      assert.deepEqual(await on.store.resolve({ limit: 10 }), { queued: 0, cancelled: 2 });

      assertHas(await jobOf(on, orphan), {
        state: 'cancelled',
        failureReason: 'cancelled_by_parent',
        finishedAt: on.clock.date(),
      });
      assertHas(await jobOf(on, grandchild), { state: 'cancelled', failureReason: 'cancelled_by_parent' });
    },
  ),

  fact('a second look moves nothing', jobDeleted, async on => {
    const [orphan] = await anOrphan(on);
    await on.store.resolve({ limit: 10 });

    await assertUnchanged(on, orphan, async () => {
      assert.deepEqual(await on.store.resolve({ limit: 10 }), { queued: 0, cancelled: 0 });
    });
  }),

  fact('a look at some jobs moves no others', jobDeleted, async on => {
    const [first] = await anOrphan(on);
    const [second] = await anOrphan(on);

    assert.deepEqual(await on.store.resolve({ keys: [second], limit: 10 }), { queued: 0, cancelled: 2 });

    assert.deepEqual(await statesOf(on, [first, second]), ['awaiting', 'cancelled']);
  }),

  fact('a look moves at most its limit, what waits below not counted', jobDeleted, async on => {
    await anOrphan(on);
    await anOrphan(on);
    await anOrphan(on);

    assert.deepEqual(await on.store.resolve({ limit: 2 }), { queued: 0, cancelled: 4 });
    assert.deepEqual(await on.store.resolve({ limit: 2 }), { queued: 0, cancelled: 2 });
  }),

  fact('a job of whose parents one is gone is cancelled, whatever the others do', jobDeleted, async on => {
    const [gone, running] = [await submitted(on), await started(on)];
    const child = await submitted(on, { after: [gone, keyOf(running)] });
    await on.deleteJob(keyOf(gone));

    assert.deepEqual(await on.store.resolve({ limit: 10 }), { queued: 0, cancelled: 1 });
    assert.equal(await stateOf(on, child), 'cancelled');
  }),

  fact('a job whose parent is gone is not retried', jobDeleted, async on => {
    const [orphan] = await anOrphan(on);
    await on.store.resolve({ limit: 10 });

    assert.equal(await on.store.retry(orphan, {}), 'parents_not_succeeded');
    assert.equal(await stateOf(on, orphan), 'cancelled');
  }),

  fact('of looks at once each job is moved by one', jobDeleted, async on => {
    const handles = await on.handles(4);
    for (let index = 0; index < 5; index++) {
      await anOrphan(on);
    }

    const answers = await Promise.all(handles.map(({ store }) => store.resolve({ limit: 100 })));
    answers.push(await on.store.resolve({ limit: 100 }));

    assert.equal(
      answers.reduce((sum, { cancelled }) => sum + cancelled, 0),
      10,
    );
  }),
]);

/** A job whose parent is gone, and one that waits for that job. */
async function anOrphan(on: FactContext): Promise<[orphan: JobKey, grandchild: JobKey]> {
  const parent = await submitted(on);
  const orphan = await submitted(on, { after: [parent] });
  const grandchild = await submitted(on, { after: [orphan] });
  await on.deleteJob(keyOf(parent));
  assert.equal(only(idsOf([await jobOf(on, orphan)])), orphan.id);

  return [keyOf(orphan), keyOf(grandchild)];
}
