import { assert } from '../assert.ts';
import type { JobKey } from '../../core/job-key.ts';
import { jobStates } from '../../core/states.ts';
import { aJobIn, assertUnchanged } from '../arrange.ts';
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

  fact('a job that is given twice is deleted once, and a purge of none deletes none', async on => {
    const key = await aJobIn(on, 'failed');

    assert.equal(await on.store.purge([], ['failed']), 0);
    assert.equal(await on.store.purge([key], []), 0);
    assert.equal(await on.store.purge([key, key], ['failed']), 1);
    assert.equal(await on.store.purge([key], ['failed']), 0);
  }),
]);
