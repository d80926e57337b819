import { assert } from '../assert.ts';
import type { Attempt } from '../../core/attempt.ts';
import type { JobKey } from '../../core/job-key.ts';
import { finishedStates } from '../../core/states.ts';
import type { PruneAnswer, PrunePolicy } from '../../core/store.ts';
import {
  aFamily,
  aJobIn,
  assertRejects,
  assertUnchanged,
  jobOf,
  only,
  settled,
  started,
  startOf,
  stateOf,
  submitted,
} from '../arrange.ts';
import { aSubmission, failed, interrupted, keyOf, succeeded } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const never = { succeeded: null, failed: null, cancelled: null, interrupted: null } as const;
const unfinished = ['awaiting', 'queued', 'running'] as const;
/** Later than anything that a fact makes. */
const minuteInMs = 60_000;

export const pruning = group('Pruning', [
  finishedStates.map(state =>
    fact(
      `a job that ${state === 'succeeded' || state === 'failed' ? 'has' : 'was'} ${state} is deleted by the retention of its state, with its attempts`,
      async on => {
        const key = await aJobIn(on, state);
        const others = { ...all(on), [state]: null };
        on.clock.advance(minuteInMs);

        assert.equal((await pruned(on, others)).jobs, 0);
        assert.equal((await pruned(on, { ...never, [state]: on.clock.now() })).jobs, 1);

        assert.equal(await on.store.get(key), null);
        assert.deepEqual(await on.store.attempts(key), []);
      },
    ),
  ),

  fact('a job is kept up to the instant of its retention, and not a microsecond longer', async on => {
    const key = await aJobIn(on, 'succeeded');
    const endedAt = on.clock.now();

    assert.equal((await pruned(on, { ...never, succeeded: endedAt })).jobs, 0);
    assert.ok(await on.store.get(key));
    assert.equal((await pruned(on, { ...never, succeeded: endedAt + 1 })).jobs, 1);
  }),

  unfinished.map(state =>
    fact(`a job that is ${state} is never deleted, however old`, async on => {
      const key = await aJobIn(on, state);
      on.clock.advance(365 * 86_400_000);

      await assertUnchanged(on, key, async () => {
        assert.equal((await pruned(on, all(on))).jobs, 0);
        assert.equal(await on.store.purge([key], finishedStates), 0);
      });
    }),
  ),

  fact('no more jobs are deleted at once than was asked for, those that ended first first', async on => {
    const attempts: Attempt[] = [];
    for (let count = 0; count < 5; count++) {
      on.clock.advance(1000);
      attempts.push(await started(on));
    }
    // By when they ended they are the fourth, the last, the third, the first and the second.
    for (const index of [3, 4, 2, 0, 1]) {
      on.clock.advance(1000);
      await settled(on, succeeded(attempts[index]!));
    }
    on.clock.advance(minuteInMs);

    assert.equal((await pruned(on, all(on), 3)).jobs, 3);

    assert.deepEqual(await areThere(on, attempts.map(keyOf)), [true, true, false, false, false]);
    assert.equal((await pruned(on, all(on), 3)).jobs, 2);
    assert.equal((await pruned(on, all(on), 3)).jobs, 0);
  }),

  fact('the limit counts over all states', async on => {
    for (const state of [...finishedStates, ...finishedStates]) await aJobIn(on, state);
    on.clock.advance(minuteInMs);

    assert.equal((await pruned(on, all(on), 3)).jobs, 3);
    assert.equal((await pruned(on, all(on), 3)).jobs, 3);
    assert.equal((await pruned(on, all(on), 3)).jobs, 2);
  }),

  fact('a job that another one awaits is kept, and goes when that one has started', async on => {
    const parents = [await submitted(on), await submitted(on)];
    const child = await submitted(on, { after: parents });
    await settled(on, succeeded(await startOf(on, parents[0]!)));
    on.clock.advance(minuteInMs);

    assert.equal((await pruned(on, all(on))).jobs, 0);
    assert.equal(await on.store.purge([keyOf(parents[0]!)], finishedStates), 0);

    await settled(on, succeeded(await startOf(on, parents[1]!)));
    assert.equal(await stateOf(on, child), 'queued');
    on.clock.advance(minuteInMs);
    assert.equal((await pruned(on, all(on))).jobs, 2);
  }),

  fact('a job that is queued stays as it is when the parent that it waited for is deleted', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, succeeded(parent));
    on.clock.advance(minuteInMs);

    await assertUnchanged(on, child, async () => {
      assert.equal((await pruned(on, all(on))).jobs, 1);
    });
  }),

  fact('a job whose interrupted parent is kept for it still starts when that one is retried and succeeds', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, interrupted(parent));
    on.clock.advance(minuteInMs);

    assert.equal((await pruned(on, all(on))).jobs, 0);

    await on.store.retry(keyOf(parent), {});
    await settled(on, succeeded(await startOf(on, parent)));
    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a job that has been deleted is no longer recognised: its request makes a new one', async on => {
    const submission = aSubmission();
    await on.store.submit([submission]);
    await settled(on, succeeded(await startOf(on, submission)));
    on.clock.advance(minuteInMs);
    assert.equal(only(await on.store.submit([submission])).created, false);

    await pruned(on, all(on));

    const { created, job } = only(await on.store.submit([submission]));
    assert.deepEqual([created, job.attemptCount], [true, 0]);
    assert.equal((await startOf(on, submission)).attempt, 1);
  }),

  fact('a new job of a deleted one waits for nobody that the old one waited for', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, failed(parent));
    on.clock.advance(minuteInMs);
    await pruned(on, { ...never, cancelled: on.clock.now() });
    assert.equal(await on.store.get(child), null);

    await on.store.submit([aSubmission({ id: child.id })]);
    await settled(on, failed(await startOf(on, child)));

    assert.equal(await on.store.retry(child, {}), 'queued');
  }),

  fact('a deleted job is no parent for jobs to come', async on => {
    const key = await aJobIn(on, 'succeeded');
    on.clock.advance(minuteInMs);
    await pruned(on, all(on));

    await assertRejects(() => on.store.submit([aSubmission({ after: [key] })]), 'PARENT_NOT_FOUND');
  }),

  fact('what succeeded and was deleted keeps none of its children from coming back', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, succeeded(parent));
    await settled(on, failed(await startOf(on, child)));
    const before = await jobOf(on, child);
    on.clock.advance(minuteInMs);
    await pruned(on, { ...never, succeeded: on.clock.now() });

    assert.deepEqual(await jobOf(on, child), before);
    assert.equal(await on.store.retry(child, {}), 'queued');
  }),

  (['failed', 'cancelled'] as const).map(state =>
    fact(
      `the children of a deleted job that ${state === 'failed' ? 'has' : 'was'} ${state} do not come back`,
      async on => {
        const [parent, child] = await aFamily(on);
        if (state === 'cancelled') {
          await on.store.cancel(keyOf(parent), {});
        }
        await settled(on, failed(parent));
        on.clock.advance(minuteInMs);
        assert.equal(await on.store.purge([keyOf(parent)], [state]), 1);

        assert.equal(await on.store.retry(child, {}), 'parents_not_succeeded');
        assert.equal(await on.store.resurrect(child, {}), 'parents_not_succeeded');
      },
    ),
  ),

  fact('what belongs to other jobs is left alone', async on => {
    const old = await aJobIn(on, 'succeeded', { scope: 'a' });
    on.clock.advance(minuteInMs);
    const before = on.clock.now();
    const sameId = await submitted(on, { id: old.id, scope: 'b' });
    await settled(on, succeeded(await startOf(on, sameId)));
    const [parent, child] = await aFamily(on);

    for (const key of [keyOf(sameId), keyOf(parent), child]) {
      await assertUnchanged(on, key, () => pruned(on, { ...never, succeeded: before }));
    }

    assert.deepEqual(await areThere(on, [old]), [false]);
    await settled(on, succeeded(parent));
    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('who comes late with an attempt of a deleted job has lost it', async on => {
    const attempt = await started(on);
    await settled(on, succeeded(attempt));
    on.clock.advance(minuteInMs);
    await pruned(on, all(on));

    assert.notEqual((await settled(on, succeeded(attempt))).answer, 'settled');
    assert.deepEqual(await on.store.status([attempt]), ['ended']);
    assert.equal(await on.store.retry(keyOf(attempt), {}), 'not_found');
  }),

  (['retry', 'resurrect'] as const).map(call =>
    fact(
      `a job that meets a ${call} and a prune at once is gone or queued, with its attempts, never half of it`,
      async on => {
        const [pruner, ...others] = await on.handles(4);

        for (let round = 0; round < 15; round++) {
          const keys: JobKey[] = [];
          for (let count = 0; count < others.length; count++) keys.push(await aJobIn(on, 'failed'));
          on.clock.advance(minuteInMs);

          const [deleted, ...answers] = await Promise.all([
            pruned({ ...on, store: pruner!.store }, all(on)),
            ...others.map(({ store }, index) => store[call](keys[index]!, {})),
          ]);

          const there = await areThere(on, keys);
          assert.deepEqual(
            answers,
            there.map(isThere => (isThere ? 'queued' : 'not_found')),
          );
          assert.equal(deleted.jobs, there.filter(isThere => !isThere).length);
          for (const [index, key] of keys.entries()) {
            assert.equal((await on.store.attempts(key)).length, there[index] ? 1 : 0);
            if (there[index]) await settled(on, succeeded(await startOf(on, key)));
          }
          on.clock.advance(minuteInMs);
          await pruned(on, all(on));
        }
      },
    ),
  ),

  fact('of four who prune at once, each job is deleted by one', async on => {
    const handles = await on.handles(4);
    for (let count = 0; count < 20; count++) await aJobIn(on, 'succeeded');
    on.clock.advance(minuteInMs);

    const answers = await Promise.all(handles.map(({ store }) => pruned({ ...on, store }, all(on))));
    const rest = await pruned(on, all(on));

    assert.equal(
      answers.reduce((sum, { jobs }) => sum + jobs, rest.jobs),
      20,
    );
    assert.deepEqual(await on.store.counts({}), []);
  }),
]);

/** Whatever has ended by now. */
function all({ clock }: Pick<FactContext, 'clock'>): PrunePolicy['finishedBefore'] {
  const now = clock.now();
  return { succeeded: now, failed: now, cancelled: now, interrupted: now };
}

function pruned(
  { store }: Pick<FactContext, 'store'>,
  finishedBefore: PrunePolicy['finishedBefore'],
  limit = 100,
): Promise<PruneAnswer> {
  return store.prune({ finishedBefore, executorsBefore: 0, limit });
}

async function areThere({ store }: FactContext, keys: readonly JobKey[]): Promise<boolean[]> {
  return (await Promise.all(keys.map(key => store.get(key)))).map(job => job !== null);
}
