import { assert } from '../assert.ts';
import type { Submission } from '../../core/submission.ts';
import {
  assertHas,
  assertUnchanged,
  jobOf,
  settled,
  started,
  startOf,
  stateOf,
  statesOf,
  submitted,
} from '../arrange.ts';
import { aSubmission, failed, keyOf, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const cascades = group('Cascades of cancels', [
  fact('a cancel reaches all that waits below, two hundred levels deep', async on => {
    const chain = aChain(200);
    await on.store.submit(chain);

    assert.equal(await on.store.cancel(keyOf(chain[0]!), {}), 'cancelled');

    assert.deepEqual(new Set(await statesOf(on, chain)), new Set(['cancelled']));
    assertHas(await jobOf(on, chain[199]!), {
      failureReason: 'cancelled_by_parent',
      finishedAt: on.clock.date(),
      attemptCount: 0,
    });
  }),

  fact('a failure reaches all that waits below', async on => {
    const parent = await started(on);
    const [first, second] = [aSubmission({ after: [keyOf(parent)] }), aSubmission({ after: [keyOf(parent)] })];
    const below = [first, second].map(key => aSubmission({ after: [key] }));
    await on.store.submit([first, second, ...below]);

    await settled(on, failed(parent));

    assert.deepEqual(new Set(await statesOf(on, [first, second, ...below])), new Set(['cancelled']));
  }),

  fact('a cascade cancels each job once, also where several ways lead to it', async on => {
    const top = await submitted(on);
    const [left, right] = [aSubmission({ after: [top] }), aSubmission({ after: [top] })];
    const bottom = aSubmission({ after: [left, right, top] });
    await on.store.submit([left, right, bottom]);
    const { revision } = await jobOf(on, bottom);

    await on.store.cancel(keyOf(top), {});

    assertHas(await jobOf(on, bottom), { state: 'cancelled', revision: revision + 1 });
  }),

  fact('a cascade reaches a job that also waits for others, and leaves those alone', async on => {
    const [top, other] = [await submitted(on), await started(on)];
    const middle = await submitted(on, { after: [top] });
    const bottom = await submitted(on, { after: [middle, keyOf(other)] });

    await assertUnchanged(on, other, () => on.store.cancel(keyOf(top), {}));

    assert.deepEqual(await statesOf(on, [middle, bottom]), ['cancelled', 'cancelled']);
  }),

  fact('a cascade leaves siblings and strangers alone', async on => {
    const [top, stranger] = [await submitted(on), await submitted(on)];
    const [, sibling, theirs] = [
      await submitted(on, { after: [top] }),
      await submitted(on, { after: [stranger] }),
      await submitted(on, { scope: 'other', id: top.id }),
    ];
    const child = await submitted(on, { scope: 'other', after: [theirs] });

    await on.store.cancel(keyOf(top), {});

    assert.deepEqual(await statesOf(on, [stranger, sibling, theirs, child]), [
      'queued',
      'awaiting',
      'queued',
      'awaiting',
    ]);
  }),

  fact('what waits below a job that goes on is cancelled only with that job', async on => {
    const parent = await started(on);
    const child = await submitted(on, { after: [keyOf(parent)] });
    const grandchild = await submitted(on, { after: [child] });
    await settled(on, succeeded(parent));
    assert.deepEqual(await statesOf(on, [child, grandchild]), ['queued', 'awaiting']);

    await settled(on, failed(await startOf(on, child)));

    assert.equal(await stateOf(on, grandchild), 'cancelled');
  }),

  fact('a cascade gives the unique keys of all that it cancels free', async on => {
    const top = await submitted(on);
    const child = await submitted(on, { after: [top], uniqueKey: 'child' });
    await submitted(on, { after: [child], uniqueKey: 'grandchild' });

    await on.store.cancel(keyOf(top), {});

    const again = await on.store.submit([
      aSubmission({ uniqueKey: 'child' }),
      aSubmission({ uniqueKey: 'grandchild' }),
    ]);
    assert.deepEqual(
      again.map(({ created }) => created),
      [true, true],
    );
  }),

  fact('a job that is submitted below a cancelled one is cancelled, and so is what comes with it', async on => {
    const top = await submitted(on);
    await on.store.cancel(keyOf(top), {});
    const child = aSubmission({ after: [top] });
    const grandchild = aSubmission({ after: [child] });

    const results = await on.store.submit([grandchild, child]);

    assert.deepEqual(
      results.map(({ job }) => job.state),
      ['cancelled', 'cancelled'],
    );
    assert.deepEqual(await statesOf(on, [child, grandchild]), ['cancelled', 'cancelled']);
  }),

  fact('cascades that meet in one job from two sides at once cancel it once', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 5; round++) {
      const [left, right] = [aChain(5), aChain(5)];
      const bottom = aSubmission({ after: [left.at(-1)!, right.at(-1)!] });
      await on.store.submit([...left, ...right, bottom]);
      const { revision } = await jobOf(on, bottom);
      const answers = await Promise.all([a!.store.cancel(keyOf(left[0]!), {}), b!.store.cancel(keyOf(right[0]!), {})]);
      await on.store.resolve({ limit: 100 });

      assert.deepEqual(answers, ['cancelled', 'cancelled']);
      assert.deepEqual(new Set(await statesOf(on, [...left, ...right])), new Set(['cancelled']));
      assertHas(await jobOf(on, bottom), { state: 'cancelled', revision: revision + 1 });
    }
  }),
]);

/** Jobs each of which waits for the one before. */
function aChain(length: number): Submission[] {
  const chain: Submission[] = [];
  for (let level = 0; level < length; level++) {
    chain.push(aSubmission({ after: chain.slice(-1) }));
  }

  return chain;
}
