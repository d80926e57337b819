import { assert } from '../assert.ts';
import { microsOf } from '../../core/time.ts';
import { assertUnchanged, idsOf, settled, started, stateOf, submitted } from '../arrange.ts';
import { aClaim, keyOf, someSubmissions, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

const tomorrow = new Date('2030-01-02T00:00:00Z');

export const pauses = group('Pauses', [
  fact('a paused queue gives nothing to a claim, and again when it is resumed', async on => {
    const job = await submitted(on, { queue: 'mails' });

    await on.queues.setQueuePaused('mails', true, 'mia');
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
    assert.deepEqual((await on.store.claim(aClaim({ queues: ['mails'] }))).attempts, []);
    assert.equal(await stateOf(on, job), 'queued');

    await on.queues.setQueuePaused('mails', false, 'mia');
    assert.deepEqual(idsOf((await on.store.claim(aClaim())).attempts), [job.id]);
  }),

  fact('a job of a paused queue is not started by its key, and again when it is resumed', async on => {
    const job = await submitted(on, { queue: 'mails' });
    await on.queues.setQueueLimit('mails', 2, null);

    await on.queues.setQueuePaused('mails', true, null);
    await assertUnchanged(on, job, async () => {
      assert.equal(await on.store.tryStart(keyOf(job), 'executor-1'), null);
    });

    await on.queues.setQueuePaused('mails', false, null);
    assert.ok(await on.store.tryStart(keyOf(job), 'executor-1'));
  }),

  fact('a paused queue without a cap starts no job by its key', async on => {
    const job = await submitted(on, { queue: 'mails' });
    await on.queues.setQueuePaused('mails', true, null);

    assert.equal(await on.store.tryStart(keyOf(job), 'executor-1'), null);
  }),

  fact('a paused queue takes submissions, and what it runs goes on', async on => {
    const attempt = await started(on, { queue: 'mails' });
    await on.queues.setQueuePaused('mails', true, null);

    assert.deepEqual(await on.store.status([attempt]), ['active']);
    assert.deepEqual(await settled(on, succeeded(attempt)), { answer: 'settled', state: 'succeeded' });
    assert.equal(await stateOf(on, await submitted(on, { queue: 'mails' })), 'queued');
  }),

  fact('a pause holds for its queue alone', async on => {
    await submitted(on, { queue: 'mails', priority: 5 });
    const other = await submitted(on, { queue: 'mails2' });
    await on.queues.setQueuePaused('mails', true, null);

    assert.deepEqual(idsOf((await on.store.claim(aClaim({ limit: 1 }))).attempts), [other.id]);
  }),

  fact('the jobs of a paused queue do not count as the next ones due', async on => {
    await submitted(on, { queue: 'mails' });
    await on.queues.setQueuePaused('mails', true, null);
    assert.deepEqual(await on.store.claim(aClaim()), { attempts: [], nextDueAt: null, isHeldBack: false });

    await submitted(on, { notBefore: tomorrow });
    assert.equal((await on.store.claim(aClaim())).nextDueAt, microsOf(tomorrow));
  }),

  fact('a queue with a cap can be paused and resumed without losing it', async on => {
    await on.store.submit(someSubmissions(3, { queue: 'mails' }));
    await on.queues.setQueueLimit('mails', 2, 'mia');
    await on.queues.setQueuePaused('mails', true, 'max');
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);

    await on.queues.setQueuePaused('mails', false, 'max');
    assert.equal((await on.store.claim(aClaim())).attempts.length, 2);
  }),

  fact('a cap can be set and lifted without ending a pause', async on => {
    await submitted(on, { queue: 'mails' });
    await on.queues.setQueuePaused('mails', true, null);
    await on.queues.setQueueLimit('mails', 2, null);
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);

    await on.queues.setQueueLimit('mails', null, null);
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
  }),

  fact('a queue that nobody said anything about has no settings', async on => {
    await submitted(on, { queue: 'mails' });

    assert.deepEqual(await on.queues.queueSettings(), []);
  }),

  fact('settings are listed by name, with who changed them last, and when', async ({ queues, clock }) => {
    const before = clock.date();
    await queues.setQueuePaused('b', true, 'mia');
    await queues.setQueueLimit('c', 1, 'mia');
    await queues.setQueuePaused('d', true, 'mia');
    clock.advance(1000);
    await queues.setQueuePaused('d', false, null);
    await queues.setQueueLimit('a', 5, null);
    await queues.setQueueLimit('c', 2, 'max');

    assert.deepEqual(await queues.queueSettings(), [
      { name: 'a', isPaused: false, maxRunning: 5, changedBy: null, updatedAt: clock.date() },
      { name: 'b', isPaused: true, maxRunning: null, changedBy: 'mia', updatedAt: before },
      { name: 'c', isPaused: false, maxRunning: 2, changedBy: 'max', updatedAt: clock.date() },
      { name: 'd', isPaused: false, maxRunning: null, changedBy: null, updatedAt: clock.date() },
    ]);
  }),
]);
