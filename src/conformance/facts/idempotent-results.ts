import { microsOfMs, type Micros } from '../../core/time.ts';
import { assert } from '../assert.ts';
import { startOf, started } from '../arrange.ts';
import { fact, group } from '../fact.ts';
import { claim, claimed, complete, completed, inProgress, inTurn } from '../keys.ts';

const shutdown = { requeue: 'always', reason: 'shutdown' } as const;

export const idempotentResults = group('Results of idempotent work', [
  fact('what the work gave is answered to everyone of the scope, the owner too', async on => {
    const [owner, other] = [await started(on), await started(on)];
    await claim(on, owner);
    const value = '{"id": 9007199254740993, "text":"\\u0000 naïve 🦊 \\ud800"}';
    await complete(on, owner, value);

    assert.deepEqual(await claim(on, owner), completed(value));
    assert.deepEqual(await claim(on, other), completed(value));
  }),

  fact('a rerun of the owner gets what an earlier attempt gave', async on => {
    const first = await started(on);
    await claim(on, first);
    await complete(on, first, '"once"');
    await on.store.recover([first], shutdown);

    assert.deepEqual(await claim(on, await startOf(on, first)), completed('"once"'));
  }),

  fact('work may give nothing', async on => {
    const owner = await started(on);
    await claim(on, owner);
    await complete(on, owner, null);

    assert.deepEqual(await claim(on, await started(on)), completed(null));
  }),

  fact('a value of a million bytes comes back whole', async on => {
    const owner = await started(on);
    await claim(on, owner);
    const value = `"${'x'.repeat(999_998)}"`;
    await complete(on, owner, value);

    assert.deepEqual(await claim(on, owner), completed(value));
  }),

  fact(
    'a claim that has expired is taken from an attempt that still runs, and that one completes nothing',
    async on => {
      const [owner, other] = [await started(on), await started(on)];
      await claim(on, owner, 'charge', on.clock.now() + 2000);
      on.clock.advance(1);
      assert.deepEqual(await claim(on, other), inProgress);
      on.clock.advance(1);

      assert.deepEqual(await claim(on, other), claimed);
      assert.equal(await complete(on, owner, '"late"'), 'lost');
      assert.deepEqual(await claim(on, owner), inProgress);
      assert.equal(await complete(on, other, '"mine"'), 'completed');
      assert.deepEqual(await claim(on, owner), completed('"mine"'));
    },
  ),

  fact('a claim that has expired and that nobody took is completed by its owner', async on => {
    const owner = await started(on);
    await claim(on, owner, 'charge', on.clock.now() + 1000);
    on.clock.advance(5000);

    assert.equal(await complete(on, owner, '3'), 'completed');
    assert.deepEqual(await claim(on, owner), completed('3'));
  }),

  fact('a result is answered until it expires, and then the key is free', async on => {
    const [owner, other] = [await started(on), await started(on)];
    await claim(on, owner);
    await complete(on, owner, '1', on.clock.now() + 2000);
    on.clock.advance(1);
    assert.deepEqual(await claim(on, other), completed('1'));
    on.clock.advance(1);

    assert.deepEqual(await claim(on, other), claimed);
    assert.deepEqual(await claim(on, owner), inProgress);
    assert.equal(await complete(on, other, '2'), 'completed');
    assert.deepEqual(await claim(on, owner), completed('2'));
  }),

  fact('nobody releases the key of another, or a result', async on => {
    const [owner, other] = [await started(on), await started(on)];
    await claim(on, owner);
    await on.idempotency.releaseKey(other, 'charge');
    assert.deepEqual(await claim(on, other), inProgress);

    await complete(on, owner);
    await on.idempotency.releaseKey(owner, 'charge');
    assert.deepEqual(await claim(on, other), completed('1'));
  }),

  fact('a stale attempt completes nothing, although it holds the key', async on => {
    const stale = await started(on);
    await claim(on, stale);
    await on.store.recover([stale], shutdown);

    assert.equal(await complete(on, stale), 'lost', 'while the job is queued');
    const owner = await startOf(on, stale);
    assert.equal(await complete(on, stale), 'lost', 'while it runs again');
    assert.deepEqual(await claim(on, owner), claimed);
  }),

  fact('an attempt completes only what it claimed, and that once', async on => {
    const [owner, other] = [await started(on), await started(on)];
    assert.equal(await complete(on, owner), 'lost');
    await claim(on, owner);
    assert.equal(await complete(on, other), 'lost');

    assert.equal(await complete(on, owner, '1'), 'completed');
    assert.equal(await complete(on, owner, '2'), 'lost');
    assert.deepEqual(await claim(on, other), completed('1'));
  }),

  fact('a prune finds what has expired among any number of keys that are held or known', async on => {
    const owner = await started(on);
    const until = on.clock.now() + microsOfMs(9);
    const keep = async (key: string, expiresAt: Micros) => {
      await claim(on, owner, key, until);
      await on.idempotency.completeKey(owner, key, '1', expiresAt);
    };
    await inTurn(['a', 'b', 'c'], key => claim(on, owner, key, until));
    await inTurn(['d', 'e', 'f'], key => keep(key, until));
    await claim(on, owner, 'old claim', on.clock.now() + microsOfMs(1));
    await keep('old result', on.clock.now() + microsOfMs(1));
    on.clock.advance(1);

    assert.deepEqual(await inTurn([1, 1, 1], limit => on.idempotency.pruneKeys(limit)), [1, 1, 0]);
  }),

  fact('a prune forgets what has expired and nothing else, at most so many at once', async on => {
    const [owner, other] = [await started(on), await started(on)];
    const at = (ms: number) => on.clock.now() + microsOfMs(ms);
    await inTurn(['a', 'b', 'c'], key => claim(on, owner, key, at(2)));
    await claim(on, owner, 'held', at(3));
    await on.idempotency.claimKey(owner, 'old', at(9));
    await on.idempotency.completeKey(owner, 'old', '1', at(2));
    await on.idempotency.claimKey(owner, 'new', at(1));
    await on.idempotency.completeKey(owner, 'new', '1', at(3));
    assert.equal(await on.idempotency.pruneKeys(10), 0);
    on.clock.advance(2);

    assert.equal(await on.idempotency.pruneKeys(3), 3);
    assert.equal(await on.idempotency.pruneKeys(3), 1);
    assert.equal(await on.idempotency.pruneKeys(3), 0);
    assert.deepEqual(await inTurn(['held', 'new', 'old', 'a'], key => claim(on, other, key)), [
      inProgress,
      completed('1'),
      claimed,
      claimed,
    ]);
  }),
]);
