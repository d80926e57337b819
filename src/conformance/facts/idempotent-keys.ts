import type { AttemptRef } from '../../core/attempt.ts';
import type { ClaimKeyAnswer } from '../../core/idempotency.ts';
import { assert } from '../assert.ts';
import { outcomes, settled, settlements, startOf, started } from '../arrange.ts';
import { keyOf, refOf, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';
import { claim, claimed, complete, completed, inProgress, inTurn, lost } from '../keys.ts';

const shutdown = { requeue: 'always', reason: 'shutdown' } as const;

export const idempotentKeys = group('Keys of idempotent work', [
  fact('a key that nobody holds is given to the attempt that asks', async on => {
    assert.deepEqual(await claim(on, await started(on)), claimed);
  }),

  fact('a key is held for another attempt while its owner runs', async on => {
    const [owner, other] = [await started(on), await started(on)];
    await claim(on, owner);

    assert.deepEqual(await claim(on, other), inProgress);
    assert.deepEqual(await claim(on, other), inProgress);
    assert.equal(await complete(on, owner), 'completed');
  }),

  fact('an attempt that asks again for what it holds gets it again', async on => {
    const owner = await started(on);
    await claim(on, owner);

    assert.deepEqual(await claim(on, owner), claimed);
    assert.equal(await complete(on, owner), 'completed');
  }),

  outcomes.map(outcome =>
    fact(`a key is taken from an attempt that has ended as ${outcome}`, async on => {
      const [owner, other] = [await started(on), await started(on)];
      await claim(on, owner);
      await settled(on, settlements[outcome](owner));

      assert.deepEqual(await claim(on, other), claimed);
      assert.equal(await complete(on, other, '2'), 'completed');
    }),
  ),

  fact('a key is taken from an attempt that was recovered, by the rerun of the same job', async on => {
    const first = await started(on);
    await claim(on, first);
    await on.store.recover([first], shutdown);
    const second = await startOf(on, first);

    assert.deepEqual(await claim(on, second), claimed);
    assert.deepEqual(await claim(on, await started(on)), inProgress);
    assert.equal(await complete(on, second), 'completed');
  }),

  fact('a key is not taken from an attempt whose job is to be cancelled and still runs', async on => {
    const [owner, other] = [await started(on), await started(on)];
    await claim(on, owner);
    await on.store.cancel(keyOf(owner), {});

    assert.deepEqual(await claim(on, other), inProgress);
    assert.equal(await complete(on, owner), 'completed');
  }),

  fact('a key is taken from an attempt whose job is gone', { needs: ['deleteJob'] }, async on => {
    const [owner, other] = [await started(on), await started(on)];
    await claim(on, owner);
    await on.deleteJob(keyOf(owner));

    assert.deepEqual(await claim(on, other), claimed);
  }),

  fact('a key that its owner releases is free', async on => {
    const [owner, other] = [await started(on), await started(on)];
    await claim(on, owner);
    await on.idempotency.releaseKey(owner, 'charge');

    assert.equal(await complete(on, owner), 'lost');
    assert.deepEqual(await claim(on, other), claimed);
  }),

  fact('a stale attempt gets no key, and no result', async on => {
    const stale = await started(on);
    await on.store.recover([stale], shutdown);
    const owner = await startOf(on, stale);

    assert.deepEqual(await claim(on, stale), lost);
    assert.deepEqual(await claim(on, owner), claimed);
    await complete(on, owner);
    assert.deepEqual(await claim(on, stale), lost);
    assert.deepEqual(await claim(on, { ...refOf(owner), token: stale.token }), lost);
  }),

  fact('an attempt that has settled gets no key', async on => {
    const ended = await started(on);
    await settled(on, succeeded(ended));

    assert.deepEqual(await claim(on, ended), lost);
    assert.deepEqual(await claim(on, await started(on)), claimed);
  }),

  fact('one attempt may hold several keys', async on => {
    const [owner, other] = [await started(on), await started(on)];
    assert.deepEqual([await claim(on, owner, 'a'), await claim(on, owner, 'b')], [claimed, claimed]);
    await on.idempotency.releaseKey(owner, 'a');

    assert.deepEqual([await claim(on, other, 'a'), await claim(on, other, 'b')], [claimed, inProgress]);
  }),

  fact('a key belongs to its scope, wherever the two are cut', async on => {
    const attempts = await Promise.all(['', 'a', 'ab', '1:a'].map(scope => started(on, { scope })));
    const keys = ['1:abc', 'bc', 'c', 'bc'];
    await inTurn(attempts, (attempt, index) => claim(on, attempt, keys[index]));

    const complete = (attempt: AttemptRef, index: number) =>
      on.idempotency.completeKey(attempt, keys[index]!, String(index), on.clock.now() + 1000);
    assert.deepEqual(await inTurn(attempts, complete), ['completed', 'completed', 'completed', 'completed']);
    assert.deepEqual(
      await inTurn(attempts, (attempt, index) => claim(on, attempt, keys[index])),
      ['0', '1', '2', '3'].map(completed),
    );
  }),

  fact('keys are compared exactly, and ones that look special are texts like any other', async on => {
    const owner = await started(on);
    const keys = [
      'Charge',
      'charge',
      'charge ',
      'chärge',
      'cha\u0308rge',
      `'; drop table`,
      '%',
      '?',
      '🦊',
      'x'.repeat(255),
    ];

    assert.deepEqual(
      await inTurn(keys, key => claim(on, owner, key)),
      keys.map(() => claimed),
    );
    const other = await started(on);
    assert.deepEqual(
      await inTurn(keys, key => claim(on, other, key)),
      keys.map(() => inProgress),
    );
  }),

  fact('of many who ask for one key at once, one gets it', async on => {
    const handles = await on.handles(4);

    for (let round = 0; round < 5; round++) {
      const attempts = await inTurn(
        Array.from({ length: 8 }, () => null),
        () => started(on),
      );
      const answers = await Promise.all(
        attempts.map((attempt, index) => claim({ ...on, ...handles[index % 4]! }, attempt, `key-${round}`)),
      );

      assertOneClaimed(answers);
    }
  }),

  fact('of many who find an ended owner at once, one takes its key', async on => {
    const handles = await on.handles(4);

    for (let round = 0; round < 5; round++) {
      const owner = await started(on);
      await claim(on, owner, `key-${round}`);
      await settled(on, succeeded(owner));
      const attempts = await inTurn(
        Array.from({ length: 8 }, () => null),
        () => started(on),
      );
      const answers = await Promise.all(
        attempts.map((attempt, index) => claim({ ...on, ...handles[index % 4]! }, attempt, `key-${round}`)),
      );

      assertOneClaimed(answers);
    }
  }),
]);

function assertOneClaimed(answers: readonly ClaimKeyAnswer[]): void {
  const words = answers.map(({ answer }) => answer).sort();
  assert.deepEqual(words, ['claimed', ...Array.from({ length: answers.length - 1 }, () => 'in_progress')]);
}
