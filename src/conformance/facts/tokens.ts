import { assert } from '../assert.ts';
import type { Attempt, AttemptRef, Settlement } from '../../core/attempt.ts';
import {
  assertHas,
  assertUnchanged,
  attemptOf,
  jobOf,
  only,
  settled,
  settlements,
  started,
  startOf,
  stateOf,
} from '../arrange.ts';
import { aReport, failed, keyOf, refOf, snoozed, succeeded } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const shutdown = { requeue: 'always', reason: 'shutdown' } as const;

/** How an attempt loses its job. */
const losses: ReadonlyArray<readonly [title: string, lose: (on: FactContext, attempt: Attempt) => Promise<unknown>]> = [
  ['an attempt that was recovered', (on, attempt) => on.store.recover([attempt], shutdown)],
  ['an attempt that was released', (on, attempt) => on.store.release([attempt])],
  [
    'an attempt whose job was retried',
    async (on, attempt) => {
      await settled(on, failed(attempt));
      await on.store.retry(keyOf(attempt), {});
    },
  ],
  ['an attempt that was rescheduled', (on, attempt) => settled(on, settlements.rescheduled(attempt))],
];

export const tokens = group('Tokens: one owner', [
  losses.map(([title, lose]) =>
    fact(`${title} can change nothing, while the job is queued and while it runs again`, async on => {
      const stale = await started(on);
      await lose(on, stale);
      await assertFenced(on, stale);

      const owner = await startOf(on, stale);
      await assertFenced(on, stale);

      assert.deepEqual(await settled(on, succeeded(owner)), { answer: 'settled', state: 'succeeded' });
      assert.notEqual(owner.token, stale.token);
    }),
  ),

  losses.map(([title, lose]) =>
    fact(`${title} takes nothing from the new owner in one group with it, whichever comes first`, async on => {
      for (const inOrder of [<T>(pair: T[]) => pair, <T>(pair: T[]) => [...pair].reverse()]) {
        for (const judge of [settledBesideOwner, reportedBesideOwner, releasedBesideOwner, recoveredBesideOwner]) {
          const stale = await started(on);
          await lose(on, stale);
          await judge(on, { stale, owner: await startOf(on, stale), inOrder });
        }
      }
    }),
  ),

  fact('a token that was never handed out can change nothing', async on => {
    const attempt = await started(on);

    await assertFenced(on, { ...refOf(attempt), token: '00000000-0000-4000-8000-000000000000' });
  }),

  fact('a token opens no other attempt of its job', async on => {
    const first = await started(on);
    await settled(on, settlements.rescheduled(first));
    const second = await startOf(on, first);

    for (const attempt of [1, 3]) {
      await assertFenced(on, { ...refOf(second), attempt });
    }
  }),

  fact('the token of one job opens no other', async on => {
    const [mine, theirs] = [await started(on), await started(on)];

    await assertFenced(on, { ...refOf(theirs), token: mine.token });
    assert.equal(await stateOf(on, mine), 'running');
  }),

  fact('an executor that starts its own job again is fenced like any other', async on => {
    const first = await started(on);
    await on.store.recover([first], shutdown);
    const second = await startOf(on, first);

    assert.deepEqual(await on.store.settle([failed(first), succeeded(second)]), [
      { answer: 'lost' },
      { answer: 'settled', state: 'succeeded' },
    ]);
    assertHas(await attemptOf(on, first), { state: 'interrupted' });
    assertHas(await jobOf(on, first), { state: 'succeeded', failureCount: 0 });
  }),

  fact('of a stale attempt and the new owner at once, the new owner settles', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 10; round++) {
      const stale = await started(on);
      await on.store.recover([stale], shutdown);
      const owner = await startOf(on, stale);
      const [late, mine] = await Promise.all([a!.store.settle([failed(stale)]), b!.store.settle([succeeded(owner)])]);

      assert.deepEqual([late, mine], [[{ answer: 'lost' }], [{ answer: 'settled', state: 'succeeded' }]]);
    }
  }),

  fact('of a settlement and a recovery at once, one ends the attempt', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 10; round++) {
      const attempt = await started(on);
      const [settlement, recovery] = await Promise.all([
        a!.store.settle([succeeded(attempt)]),
        b!.store.recover([attempt], shutdown),
      ]);

      const { state } = await jobOf(on, attempt);
      assert.deepEqual(
        [only(settlement), only(recovery)],
        state === 'succeeded' ? [{ answer: 'settled', state }, 'lost'] : [{ answer: 'lost' }, 'queued'],
      );
      assertHas(await attemptOf(on, attempt), { state: state === 'succeeded' ? 'succeeded' : 'interrupted' });
    }
  }),

  fact('of a settlement and a release at once, one ends the attempt', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 10; round++) {
      const attempt = await started(on);
      const [settlement, release] = await Promise.all([
        a!.store.settle([succeeded(attempt)]),
        b!.store.release([attempt]),
      ]);

      const { state, attemptCount } = await jobOf(on, attempt);
      assert.deepEqual(
        [only(settlement), only(release)],
        state === 'succeeded' ? [{ answer: 'settled', state }, 'lost'] : [{ answer: 'lost' }, 'released'],
      );
      assert.equal((await on.store.attempts(keyOf(attempt))).length, attemptCount);
    }
  }),
]);

/** Whatever is asked in the name of the attempt, nothing is changed and the answer says so. */
async function assertFenced(on: FactContext, stale: AttemptRef): Promise<void> {
  await assertUnchanged(on, stale, async () => {
    assert.deepEqual(await settled(on, succeeded(stale)), { answer: 'lost' }, 'settle');
    assert.deepEqual(await on.store.progress([aReport(stale, 99, 'late')]), [{ status: 'ended', written: false }]);
    assert.deepEqual(await on.store.release([stale]), ['lost'], 'release');
    assert.deepEqual(await on.store.recover([stale], shutdown), ['lost'], 'recover');
    assert.deepEqual(await on.store.status([stale]), ['ended'], 'status');
  });
}

interface Pair {
  readonly stale: Attempt;
  readonly owner: Attempt;
  /** The stale one and the owner in the order in which they stand in the group, and back again. */
  readonly inOrder: <T>(pair: T[]) => T[];
}

async function settledBesideOwner(on: FactContext, { stale, owner, inOrder }: Pair): Promise<void> {
  const late = snoozed(stale, on.clock.now(), { progress: { value: 90, message: 'late' } });
  const mine = succeeded(owner, { progress: { value: 40, message: 'mine' }, resultRef: 'mail/2' });

  assert.deepEqual(inOrder(await on.store.settle(inOrder<Settlement>([late, mine]))), [
    { answer: 'lost' },
    { answer: 'settled', state: 'succeeded' },
  ]);
  const ended = { state: 'succeeded', resultRef: 'mail/2', progress: 40, progressMessage: 'mine' } as const;
  assertHas(await jobOf(on, owner), ended);
  assertHas(await attemptOf(on, owner), ended);
}

async function reportedBesideOwner(on: FactContext, { stale, owner, inOrder }: Pair): Promise<void> {
  const reports = inOrder([aReport(stale, 90, 'late'), aReport(owner, 40, 'mine')]);

  assert.deepEqual(inOrder(await on.store.progress(reports)), [
    { status: 'ended', written: false },
    { status: 'active', written: true },
  ]);
  assertHas(await jobOf(on, owner), { progress: 40, progressMessage: 'mine' });
  assertHas(await attemptOf(on, owner), { progress: 40, progressMessage: 'mine' });
}

async function releasedBesideOwner(on: FactContext, { stale, owner, inOrder }: Pair): Promise<void> {
  const before = (await on.store.attempts(keyOf(owner))).slice(0, -1);

  assert.deepEqual(inOrder(await on.store.release(inOrder([stale, owner]))), ['lost', 'released']);
  assert.deepEqual(await on.store.attempts(keyOf(owner)), before);
}

async function recoveredBesideOwner(on: FactContext, { stale, owner, inOrder }: Pair): Promise<void> {
  const before = (await on.store.attempts(keyOf(owner))).slice(0, -1);

  assert.deepEqual(inOrder(await on.store.recover(inOrder([stale, owner]), shutdown)), ['lost', 'queued']);
  assert.deepEqual((await on.store.attempts(keyOf(owner))).slice(0, -1), before);
  assertHas(await attemptOf(on, owner), { state: 'interrupted', failureReason: 'shutdown' });
}
