import { assert } from '../assert.ts';
import type { JobKey } from '../../core/job-key.ts';
import { jobStates } from '../../core/states.ts';
import { aFamily, aJobIn, assertUnchanged, settled, started, stateOf, submitted } from '../arrange.ts';
import { keyOf, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const purging = group('Purging', [
  fact('the given jobs are deleted where they are in one of the states, however young', async on => {
    const states = jobStates.filter(state => state !== 'awaiting');
    const keys: JobKey[] = [];
    for (const state of states) keys.push(await aJobIn(on, state));

    assert.equal(await on.store.purge([...keys, { scope: '', id: 'nobody' }], ['failed', 'cancelled']), 2);

    const left = states.map(state => state !== 'failed' && state !== 'cancelled');
    const there = await Promise.all(keys.map(key => on.store.get(key)));
    assert.deepEqual(
      there.map(job => job !== null),
      left,
    );
  }),

  fact('a purge takes the attempts along, and touches no job that was not given', async on => {
    const [given, other] = [await aJobIn(on, 'failed'), await aJobIn(on, 'failed')];

    await assertUnchanged(on, other, () => on.store.purge([given], ['failed']));

    assert.deepEqual(await on.store.attempts(given), []);
  }),

  fact('a purge leaves the jobs of the same ids in other scopes', async on => {
    const mine = await aJobIn(on, 'failed', { scope: 'mine', id: 'same' });
    const theirs = await aJobIn(on, 'failed', { scope: 'theirs', id: 'same' });

    await assertUnchanged(on, theirs, async () => {
      assert.equal(await on.store.purge([{ scope: '', id: 'same' }], ['failed']), 0);
      assert.equal(await on.store.purge([mine], ['failed']), 1);
    });

    assert.equal(await on.store.get(mine), null);
  }),

  fact('a purge leaves others waiting for the parents of what it deletes', async on => {
    const [parent, child] = await aFamily(on);
    const sibling = await submitted(on, { after: [keyOf(parent)] });
    await on.store.cancel(keyOf(sibling), {});
    const stranger = await aJobIn(on, 'succeeded');

    assert.equal(await on.store.purge([keyOf(sibling), stranger], ['cancelled', 'succeeded']), 2);
    await settled(on, succeeded(parent));

    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a purge leaves the jobs of other scopes waiting, whatever their ids and those of their parents', async on => {
    const parentOf = (scope: string) => started(on, { scope, id: 'parent' });
    const childOf = (scope: string) => submitted(on, { scope, id: 'child', after: [{ scope, id: 'parent' }] });
    const [mine, theirs] = [await parentOf('mine'), await parentOf('theirs')];
    const [, child] = [await childOf('mine'), await childOf('theirs')];
    await settled(on, succeeded(mine));
    await on.store.cancel({ scope: 'mine', id: 'child' }, {});

    for (const id of ['parent', 'child']) {
      assert.equal(await on.store.purge([{ scope: 'mine', id }], ['cancelled', 'succeeded']), 1);
    }
    await settled(on, succeeded(theirs));

    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a job that is given twice is deleted once, and a purge of none deletes none', async on => {
    const key = await aJobIn(on, 'failed');

    assert.equal(await on.store.purge([], ['failed']), 0);
    assert.equal(await on.store.purge([key], []), 0);
    assert.equal(await on.store.purge([key, key], ['failed']), 1);
    assert.equal(await on.store.purge([key], ['failed']), 0);
  }),
]);
