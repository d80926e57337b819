import { assert } from '../assert.ts';
import { dateOf, microsOf } from '../../core/time.ts';
import { aJobIn, settled, started, submitted } from '../arrange.ts';
import { aClaim, buildReport, rescheduled, someSubmissions } from '../builders.ts';
import { fact, group } from '../fact.ts';

const tomorrow = new Date('2030-01-02T00:00:00Z');

const nextWeek = new Date('2030-01-08T00:00:00Z');

export const whenToAskAgain = group('When to ask again', [
  fact('where nothing is queued, nothing will be due', async on => {
    await aJobIn(on, 'running');
    await aJobIn(on, 'failed');

    assert.deepEqual(await on.store.claim(aClaim()), { attempts: [], nextDueAt: null, isHeldBack: false });
  }),

  fact('a claim that starts nothing says exactly when the next of its jobs is due', async on => {
    await submitted(on, { notBefore: nextWeek, priority: 5 });
    await submitted(on, { notBefore: tomorrow, queue: 'b' });

    assert.deepEqual(await on.store.claim(aClaim()), {
      attempts: [],
      nextDueAt: microsOf(tomorrow),
      isHeldBack: false,
    });
  }),

  fact('a job that waits for its retry counts as the next one due', async on => {
    const retryAt = on.clock.now() + 90_000_001;
    await settled(on, rescheduled(await started(on), retryAt));
    await submitted(on, { notBefore: tomorrow });

    assert.equal((await on.store.claim(aClaim())).nextDueAt, retryAt);
  }),

  fact('jobs of other queues and definitions do not count', async on => {
    await submitted(on, { queue: 'not-served' });
    await submitted(on, { definition: buildReport });
    await submitted(on, { notBefore: tomorrow });

    const { attempts, nextDueAt } = await on.store.claim(aClaim({ queues: ['default'] }));

    assert.deepEqual([attempts, nextDueAt], [[], microsOf(tomorrow)]);
  }),

  fact('while due jobs are left, the next one is due now or since before', async on => {
    await on.store.submit(someSubmissions(3));
    await submitted(on, { notBefore: tomorrow, priority: 1 });

    const { attempts, nextDueAt } = await on.store.claim(aClaim({ limit: 2 }));

    assert.equal(attempts.length, 2);
    assert.ok(nextDueAt !== null && nextDueAt <= on.clock.now(), `nextDueAt is ${String(nextDueAt)}`);
  }),

  fact('a claim that started something never says later than the next due time', async on => {
    await submitted(on);
    await submitted(on, { notBefore: tomorrow });

    const { attempts, nextDueAt } = await on.store.claim(aClaim());

    assert.equal(attempts.length, 1);
    assert.ok(nextDueAt !== null && nextDueAt <= microsOf(tomorrow), `nextDueAt is ${String(nextDueAt)}`);
  }),

  fact('a claim with limit 0 says when something is due', async on => {
    await submitted(on, { notBefore: tomorrow });
    assert.equal((await on.store.claim(aClaim({ limit: 0 }))).nextDueAt, microsOf(tomorrow));

    await submitted(on, { notBefore: dateOf(on.clock.now() - 5_000_000) });
    const { nextDueAt } = await on.store.claim(aClaim({ limit: 0 }));
    assert.ok(nextDueAt !== null && nextDueAt <= on.clock.now(), `nextDueAt is ${String(nextDueAt)}`);
  }),
]);
