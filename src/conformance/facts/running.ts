import { assert } from '../assert.ts';
import { aJobIn, idsOf, outcomes, settled, settlements, started } from '../arrange.ts';
import { anExecutor, runningOf } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const running = group('What runs', [
  fact('what runs is listed with all that a recovery needs, from every scope', async on => {
    const [hold, requeue] = [
      await started(on, { scope: 'a' }),
      await started(on, { scope: 'b', onInterrupt: 'requeue' }),
    ];

    const listed = await on.store.running({ limit: 10 });

    assert.deepEqual(
      [...listed].sort((one, other) => (one.scope < other.scope ? -1 : 1)),
      [runningOf(hold, 'executor-1', 'hold'), runningOf(requeue, 'executor-1', 'requeue')],
    );
  }),

  fact('what has ended, and what waits, does not run', async on => {
    for (const state of ['awaiting', 'queued', 'succeeded', 'failed', 'cancelled', 'interrupted'] as const) {
      await aJobIn(on, state);
    }
    for (const outcome of outcomes) {
      await settled(on, settlements[outcome](await started(on)));
    }

    assert.deepEqual(await on.store.running({ limit: 100 }), []);
  }),

  fact('what one executor runs is listed by its id', async on => {
    await on.store.register(anExecutor({ id: 'other' }));
    await started(on);
    const theirs = await started(on, {}, 'other');

    assert.deepEqual(idsOf(await on.store.running({ executorId: 'other', limit: 10 })), [theirs.id]);
    assert.deepEqual(await on.store.running({ executorId: 'nobody', limit: 10 }), []);
  }),

  fact('what executors without a lease run is listed apart', async on => {
    await on.store.register(anExecutor({ id: 'leased', leaseUntil: on.clock.now() + 60_000_000 }));
    const unleased = await started(on);
    await started(on, {}, 'leased');

    assert.deepEqual(idsOf(await on.store.running({ unleased: true, limit: 10 })), [unleased.id]);
    assert.equal((await on.store.running({ limit: 10 })).length, 2);
  }),

  fact('no more is listed than was asked for', async on => {
    await Promise.all([started(on), started(on), started(on)]);

    assert.equal((await on.store.running({ limit: 2 })).length, 2);
  }),
]);
