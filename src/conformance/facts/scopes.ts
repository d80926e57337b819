import { assert } from '../assert.ts';
import { aJobIn, assertRejects, assertUnchanged, jobOf, settled, started, stateOf, submitted } from '../arrange.ts';
import { aSubmission, keyOf, refOf, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const scopes = group('Scopes', [
  fact('one id in two scopes is two jobs', async ({ store }) => {
    const results = await store.submit(['', 'a', 'b'].map(scope => aSubmission({ scope, id: 'same' })));

    assert.ok(results.every(({ created }) => created));
    assert.deepEqual(
      results.map(({ job }) => job.scope),
      ['', 'a', 'b'],
    );
  }),

  fact('scopes are compared byte for byte', async ({ store }) => {
    const near = ['a', 'A', 'a ', ' a', 'é', 'e\u0301', 'ss', 'ß', 'a\u200b'];

    const results = await store.submit(near.map(scope => aSubmission({ scope, id: 'same', payload: scope })));

    assert.ok(results.every(({ created }) => created));
    const read = await Promise.all(near.map(scope => store.get({ scope, id: 'same' })));
    assert.deepEqual(
      read.map(job => job?.scope),
      near,
    );
  }),

  fact('a call for one scope leaves the job of the same id in another as it is', async on => {
    const mine = await submitted(on, { scope: 'mine', id: 'same', notBefore: new Date('2031-01-01') });
    await submitted(on, { scope: 'theirs', id: 'same', notBefore: new Date('2031-01-01') });

    await assertUnchanged(on, { scope: 'theirs', id: 'same' }, async () => {
      assert.equal(await on.store.runNow(keyOf(mine)), 'due');
      assert.equal(await on.store.cancel(keyOf(mine), {}), 'cancelled');
      assert.equal(await on.store.retry(keyOf(mine), {}), 'queued');
      assert.ok(await on.store.tryStart(keyOf(mine), 'executor-1'));
    });
  }),

  fact('a call in a scope that has no such job finds none', async on => {
    const key = await aJobIn(on, 'failed', { scope: 'theirs' });
    const elsewhere = { scope: 'mine', id: key.id };

    await assertUnchanged(on, key, async () => {
      assert.equal(await on.store.get(elsewhere), null);
      assert.deepEqual(await on.store.attempts(elsewhere), []);
      assert.equal(await on.store.cancel(elsewhere, {}), 'not_found');
      assert.equal(await on.store.retry(elsewhere, {}), 'not_found');
      assert.equal(await on.store.runNow(elsewhere), 'not_found');
      assert.equal(await on.store.tryStart(elsewhere, 'executor-1'), null);
    });
  }),

  fact('an attempt in another scope is lost, even with the token', async on => {
    const attempt = await started(on, { scope: 'theirs', id: 'same' });
    await submitted(on, { scope: 'mine', id: 'same' });
    const forged = { ...refOf(attempt), scope: 'mine' };

    await assertUnchanged(on, attempt, async () => {
      assert.deepEqual(await settled(on, succeeded(forged)), { answer: 'lost' });
      assert.deepEqual(await on.store.release([forged]), ['lost']);
      assert.deepEqual(await on.store.status([forged]), ['ended']);
    });
    assert.equal(await stateOf(on, { scope: 'mine', id: 'same' }), 'queued');
  }),

  fact('a parent of the same id in another scope is none', async on => {
    await submitted(on, { scope: 'theirs', id: 'parent' });
    const child = aSubmission({ scope: 'mine', after: [{ scope: 'mine', id: 'parent' }] });

    await assertRejects(() => on.store.submit([child]), 'PARENT_NOT_FOUND');
  }),

  fact('children wait for the parent of their own scope', async on => {
    const theirs = await started(on, { scope: 'theirs', id: 'parent' });
    const mine = await started(on, { scope: 'mine', id: 'parent' });
    const child = aSubmission({ scope: 'mine', after: [keyOf(mine)] });
    await on.store.submit([child]);

    await settled(on, succeeded(theirs));
    assert.equal((await jobOf(on, child)).state, 'awaiting');
    await settled(on, succeeded(mine));
    assert.equal((await jobOf(on, child)).state, 'queued');
  }),
]);
