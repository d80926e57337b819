import { assert } from '../assert.ts';
import {
  aJobIn,
  assertRejects,
  assertUnchanged,
  jobOf,
  settled,
  started,
  stateOf,
  statesOf,
  submitted,
} from '../arrange.ts';
import { aSubmission, failed, keyOf, refOf, succeeded } from '../builders.ts';
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

  fact('a batch is stored whole where another scope has its ids', async ({ store }) => {
    await store.submit([aSubmission({ scope: 'theirs', id: 'a' }), aSubmission({ scope: 'theirs', id: 'b' })]);

    const results = await store.submit(['a', 'b', 'c'].map(id => aSubmission({ scope: 'mine', id })));

    assert.ok(results.every(({ created }) => created));
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

  fact('a start by key starts the job of its scope alone', async on => {
    const [mine, theirs] = [
      await submitted(on, { scope: 'mine', id: 'same' }),
      await submitted(on, { scope: 'theirs', id: 'same' }),
    ];

    await assertUnchanged(on, theirs, () => on.store.tryStart(keyOf(mine), 'executor-1'));

    assert.equal(await stateOf(on, mine), 'running');
    assert.equal(await on.store.tryStart({ scope: 'nobodys', id: 'same' }, 'executor-1'), null);
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

  fact('children of one id in several scopes are judged each by its own parent, in one settlement', async on => {
    const [succeeds, fails, runs] = await Promise.all(
      ['succeeds', 'fails', 'runs'].map(scope => started(on, { scope, id: 'parent' })),
    );
    const children = [succeeds!, fails!, runs!].map(({ scope }) => {
      return aSubmission({ scope, id: 'child', after: [{ scope, id: 'parent' }] });
    });
    await on.store.submit(children);

    await on.store.settle([succeeded(succeeds!), failed(fails!)]);

    assert.deepEqual(await statesOf(on, children), ['queued', 'cancelled', 'awaiting']);
  }),

  fact('a cascade stays in its scope, whatever the ids in another', async on => {
    const families = ['mine', 'theirs'].map(scope => [
      aSubmission({ scope, id: 'top' }),
      aSubmission({ scope, id: 'middle', after: [{ scope, id: 'top' }] }),
      aSubmission({ scope, id: 'bottom', after: [{ scope, id: 'middle' }] }),
    ]);
    await on.store.submit(families.flat());

    await on.store.cancel({ scope: 'mine', id: 'top' }, {});

    assert.deepEqual(await statesOf(on, families.flat()), [
      ...['cancelled', 'cancelled', 'cancelled'],
      ...['queued', 'awaiting', 'awaiting'],
    ]);
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
