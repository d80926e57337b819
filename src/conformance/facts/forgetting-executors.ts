import { assert } from '../assert.ts';
import type { PruneAnswer } from '../../core/store.ts';
import { background, started } from '../arrange.ts';
import { anExecutor, theExecutor } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const never = { succeeded: null, failed: null, cancelled: null, interrupted: null } as const;

export const forgettingExecutors = group('Forgetting executors', [
  fact('an executor that stopped or lapsed is deleted a time after its lease was over', async on => {
    const leaseUntil = on.clock.now() + 1_000_000;
    for (const id of ['stopped', 'lapsed', 'active']) await on.store.register(anExecutor({ id, leaseUntil }));
    await on.store.retire('stopped');
    on.clock.set(leaseUntil);
    await on.store.renew('active', leaseUntil + 1);
    await on.store.recoverLapsed(10);
    await started(on, { definition: background }, 'active');

    assert.equal((await forgotten(on, leaseUntil)).executors, 0);
    assert.equal((await forgotten(on, leaseUntil + 1)).executors, 2);

    assert.deepEqual(await executorsOf(on), [theExecutor, 'active'].sort());
    assert.deepEqual(await on.store.renew('lapsed', leaseUntil), { answer: 'lapsed' });
  }),

  fact('one without a lease is deleted a time after it was started, once it has stopped', async on => {
    const startedAt = on.clock.now();
    await on.store.register(anExecutor({ id: 'unleased' }));
    assert.equal((await forgotten(on, startedAt + 1)).executors, 0);

    await on.store.retire('unleased');

    assert.equal((await forgotten(on, startedAt)).executors, 0);
    assert.equal((await forgotten(on, startedAt + 1)).executors, 1);
    assert.deepEqual(await executorsOf(on), [theExecutor]);
  }),

  fact('one that still holds a job is kept until that has been recovered', async on => {
    const leaseUntil = on.clock.now() + 1_000_000;
    await on.store.register(anExecutor({ id: 'lapsed', leaseUntil }));
    await started(on, { definition: background }, 'lapsed');
    await on.store.retire('lapsed');

    assert.equal((await forgotten(on, leaseUntil + 1)).executors, 0);
    await on.store.recoverLapsed(10);
    assert.equal((await forgotten(on, leaseUntil + 1)).executors, 1);
  }),

  fact('no more executors are deleted at once than was asked for', async on => {
    for (let count = 0; count < 3; count++) {
      const executor = anExecutor();
      await on.store.register(executor);
      await on.store.retire(executor.id);
    }

    assert.equal((await forgotten(on, on.clock.now() + 1, 2)).executors, 2);
    assert.equal((await forgotten(on, on.clock.now() + 1, 2)).executors, 1);
  }),
]);

function forgotten({ store }: FactContext, executorsBefore: number, limit = 100): Promise<PruneAnswer> {
  return store.prune({ finishedBefore: never, executorsBefore, limit });
}

async function executorsOf({ store }: FactContext): Promise<string[]> {
  return (await store.executors({ onlyActive: false })).map(({ id }) => id).sort();
}
