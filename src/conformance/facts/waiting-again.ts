import { assert } from '../assert.ts';
import {
  aFamily,
  assertHas,
  assertUnchanged,
  jobOf,
  settled,
  startOf,
  stateOf,
  statesOf,
  submitted,
} from '../arrange.ts';
import { dateOf } from '../../core/time.ts';
import { failed, interrupted, keyOf, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const waitingAgain = group('Retries of jobs with parents', [
  fact('a job goes on when its interrupted parent was retried and succeeded', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, interrupted(parent));
    await on.store.retry(keyOf(parent), {});

    await settled(on, succeeded(await startOf(on, parent)));

    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a retried job waits for its parents again where one of them is active', async on => {
    const parent = await submitted(on);
    const child = await submitted(on, { after: [parent] });
    await on.store.cancel(keyOf(parent), {});
    await on.store.retry(keyOf(parent), {});

    assert.equal(await on.store.retry(keyOf(child), {}), 'awaiting');

    assertHas(await jobOf(on, child), { state: 'awaiting', failureReason: null, finishedAt: null });
    await settled(on, succeeded(await startOf(on, parent)));
    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a retry that was put off and waits for parents is due at its instant, also after them', async on => {
    const [parent, child] = await aFamily(on);
    await on.store.cancel(child, {});
    const at = on.clock.now() + 60_000_000;
    assert.equal(await on.store.retry(child, { at }), 'awaiting');
    on.clock.advance(5000);

    await settled(on, succeeded(parent));

    assertHas(await jobOf(on, child), { state: 'queued', nextRunAt: dateOf(at) });
  }),

  fact('a job that waits stays as it is when its parent is retried', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, interrupted(parent));
    on.clock.advance(5000);

    await assertUnchanged(on, child, () => on.store.retry(keyOf(parent), {}));
  }),

  fact('a retried job whose parent is interrupted waits for it', async on => {
    const [parent, child] = await aFamily(on);
    await on.store.cancel(child, {});
    await settled(on, interrupted(parent));

    assert.equal(await on.store.retry(child, {}), 'awaiting');
  }),

  fact('a retried job whose parents have succeeded is queued', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, succeeded(parent));
    await settled(on, failed(await startOf(on, child)));

    assert.equal(await on.store.retry(child, {}), 'queued');
    assert.equal(await stateOf(on, child), 'queued');
  }),

  (['failed', 'cancelled'] as const).map(state =>
    fact(`a job whose parent is ${state} is not retried`, async on => {
      const [parent, child] = await aFamily(on);
      if (state === 'cancelled') {
        await on.store.cancel(keyOf(parent), {});
      }
      await settled(on, failed(parent));
      assert.deepEqual(await statesOf(on, [parent, child]), [state, 'cancelled']);

      const answer = await assertUnchanged(on, child, () => on.store.retry(child, {}));

      assert.equal(answer, 'parents_not_succeeded');
    }),
  ),

  fact('jobs that were cancelled with their parent do not come back with its retry', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, failed(parent));
    await on.store.retry(keyOf(parent), {});
    await settled(on, succeeded(await startOf(on, parent)));
    await on.store.resolve({ limit: 10 });

    assert.equal(await stateOf(on, child), 'cancelled');
  }),
]);
