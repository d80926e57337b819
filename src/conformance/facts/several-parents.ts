import { assert } from '../assert.ts';
import { aJobIn, background, idsOf, settled, started, stateOf, statesOf, submitted } from '../arrange.ts';
import { aClaim, aSubmission, failed, keyOf, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const severalParents = group('Several parents', [
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

  fact('of the jobs of one batch each is judged by its own parents', async on => {
    const [done, broken, running] = [
      await aJobIn(on, 'succeeded'),
      await aJobIn(on, 'failed'),
      await aJobIn(on, 'running'),
    ];
    const batch = [done, broken, running].map(parent => aSubmission({ after: [parent] }));

    const results = await on.store.submit(batch);

    assert.deepEqual(
      results.map(({ job }) => job.state),
      ['queued', 'cancelled', 'awaiting'],
    );
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
]);
