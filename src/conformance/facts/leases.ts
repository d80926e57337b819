import { assert } from '../assert.ts';
import type { Attempt } from '../../core/attempt.ts';
import {
  assertHas,
  assertUnchanged,
  attemptOf,
  idsOf,
  jobOf,
  settled,
  started,
  stateOf,
  submitted,
} from '../arrange.ts';
import { aClaim, anExecutor, aReport, keyOf, succeeded, type SubmissionGiven } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const minute = 60_000;

const minuteInMicros = 60_000_000;

export const leases = group('Executors and leases', [
  fact('the id of an executor is taken once for all', async ({ store }) => {
    await store.register(anExecutor({ id: 'same' }));

    await assert.rejects(async () => store.register(anExecutor({ id: 'same', name: 'other' })));
    await store.retire('same');
    await assert.rejects(async () => store.register(anExecutor({ id: 'same' })));
  }),

  fact('a renewal extends the lease, and with it the hold on what runs', async on => {
    const attempt = await startedWithLease(on);
    on.clock.advance(minute - 1);
    const answer = await on.store.renew('leased', on.clock.now() + minuteInMicros);
    assert.equal(answer.answer, 'renewed');
    on.clock.advance(minute - 1);

    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: [], recovered: 0 });
    assert.deepEqual(await on.store.status([attempt]), ['active']);
  }),

  fact('a renewal tells of the running attempts of its executor, and which of them are to be cancelled', async on => {
    const [active, cancelled] = [await startedWithLease(on), await started(on, {}, 'leased')];
    await settled(on, succeeded(await started(on, {}, 'leased')));
    await started(on);
    await on.store.cancel(keyOf(cancelled), {});

    const answer = await on.store.renew('leased', on.clock.now() + minuteInMicros);

    assert.ok(answer.answer === 'renewed');
    assert.deepEqual(
      new Map(answer.attempts.map(({ token, status }) => [token, status])),
      new Map([
        [active.token, 'active'],
        [cancelled.token, 'cancel_requested'],
      ]),
    );
  }),

  fact('a job that is to be cancelled is held by the renewal, too', async on => {
    const attempt = await startedWithLease(on);
    await on.store.cancel(keyOf(attempt), {});
    await on.store.renew('leased', on.clock.now() + 5 * minuteInMicros);
    on.clock.advance(2 * minute);

    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: [], recovered: 0 });
    assert.equal(await stateOf(on, attempt), 'running');
  }),

  fact('a lease that is over and not declared so comes back with its renewal', async on => {
    const attempt = await startedWithLease(on);
    on.clock.advance(5 * minute);

    assert.equal((await on.store.renew('leased', on.clock.now() + minuteInMicros)).answer, 'renewed');

    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: [], recovered: 0 });
    assert.deepEqual(await settled(on, succeeded(attempt)), { answer: 'settled', state: 'succeeded' });
  }),

  fact('an attempt settles after its lease is over, as long as nobody declared that', async on => {
    const attempt = await startedWithLease(on);
    on.clock.advance(5 * minute);

    assert.deepEqual(await settled(on, succeeded(attempt)), { answer: 'settled', state: 'succeeded' });
  }),

  fact('a lease is over at its instant, and not a microsecond before', async on => {
    const attempt = await startedWithLease(on);
    const end = on.clock.now() + minuteInMicros;

    on.clock.set(end - 1);
    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: [], recovered: 0 });
    on.clock.set(end);
    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: ['leased'], recovered: 1 });
    assert.notEqual(await stateOf(on, attempt), 'running');
  }),

  fact('a lapsed executor is declared dead once', async on => {
    await startedWithLease(on);
    on.clock.advance(minute);

    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: ['leased'], recovered: 1 });
    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: [], recovered: 0 });
  }),

  fact('what a lapsed executor ran is recovered as its jobs declare', async on => {
    const held = await startedWithLease(on, { onInterrupt: 'hold' });
    const requeued = await started(on, { onInterrupt: 'requeue' }, 'leased');
    const cancelled = await started(on, { onInterrupt: 'requeue' }, 'leased');
    const spent = await started(on, { onInterrupt: 'requeue', maxAttempts: 1 }, 'leased');
    await on.store.cancel(keyOf(cancelled), {});
    on.clock.advance(minute);

    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: ['leased'], recovered: 4 });

    assertHas(await jobOf(on, held), { state: 'interrupted', failureReason: 'lease_lapsed', failureCount: 0 });
    assertHas(await jobOf(on, requeued), { state: 'queued', nextRunAt: on.clock.date(), attemptCount: 1 });
    assertHas(await jobOf(on, cancelled), { state: 'cancelled', failureReason: 'cancel_requested' });
    assertHas(await jobOf(on, spent), { state: 'interrupted' });
    assertHas(await attemptOf(on, requeued), { state: 'interrupted', failureReason: 'lease_lapsed', error: null });
  }),

  fact('what others run is not touched when an executor lapses', async on => {
    await startedWithLease(on);
    await on.store.register(anExecutor({ id: 'longer', leaseUntil: on.clock.now() + 2 * minuteInMicros }));
    const [unleased, longer] = [await started(on), await started(on, {}, 'longer')];
    on.clock.advance(minute);

    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: ['leased'], recovered: 1 });
    assert.deepEqual(await on.store.status([unleased, longer]), ['active', 'active']);
  }),

  fact('an executor without a lease is never declared dead by the time', async on => {
    const attempt = await started(on);
    on.clock.advance(10 * 365 * 86_400_000);

    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: [], recovered: 0 });
    assert.deepEqual(await on.store.status([attempt]), ['active']);
  }),

  fact('who was declared dead holds nothing: no renewal, no start, no late settlement', async on => {
    const attempt = await startedWithLease(on, { onInterrupt: 'requeue' });
    on.clock.advance(minute);
    await on.store.recoverLapsed(10);

    await assertUnchanged(on, attempt, async () => {
      assert.deepEqual(await on.store.renew('leased', on.clock.now() + minuteInMicros), { answer: 'lapsed' });
      assert.deepEqual((await on.store.claim(aClaim({ executorId: 'leased' }))).attempts, []);
      assert.equal(await on.store.tryStart(keyOf(attempt), 'leased'), null);
      assert.deepEqual(await settled(on, succeeded(attempt)), { answer: 'lost' });
      assert.deepEqual(await on.store.progress([aReport(attempt, 50)]), [{ status: 'ended', written: false }]);
    });
  }),

  fact('who was declared dead comes back under another id', async on => {
    const attempt = await startedWithLease(on, { onInterrupt: 'requeue' });
    on.clock.advance(minute);
    await on.store.recoverLapsed(10);

    await on.store.register(anExecutor({ id: 'again', leaseUntil: on.clock.now() + minuteInMicros }));

    const { attempts } = await on.store.claim(aClaim({ executorId: 'again' }));
    assert.deepEqual(idsOf(attempts), [attempt.id]);
  }),

  fact('who has no lease, has stopped, or is unknown is answered as lapsed', async on => {
    await on.store.register(anExecutor({ id: 'stopped', leaseUntil: on.clock.now() + minuteInMicros }));
    await on.store.retire('stopped');

    for (const executorId of ['executor-1', 'stopped', 'nobody']) {
      assert.deepEqual(await on.store.renew(executorId, on.clock.now() + minuteInMicros), { answer: 'lapsed' });
    }
  }),

  fact('a renewal extends one lease alone', async on => {
    await startedWithLease(on);
    await on.store.register(anExecutor({ id: 'other', leaseUntil: on.clock.now() + minuteInMicros }));
    await on.store.renew('other', on.clock.now() + 5 * minuteInMicros);
    on.clock.advance(minute);

    assert.deepEqual((await on.store.recoverLapsed(10)).lapsed, ['leased']);
  }),

  fact('what a retired executor still runs is not touched by that', async on => {
    const attempt = await startedWithLease(on);

    await assertUnchanged(on, attempt, () => on.store.retire('leased'));

    assert.deepEqual(await settled(on, succeeded(attempt)), { answer: 'settled', state: 'succeeded' });
  }),

  fact('executors without a lease may be retired together, but for those that are alive', async on => {
    const leaseUntil = on.clock.now() + minuteInMicros;
    for (const executor of [{ id: 'alive' }, { id: 'killed' }, { id: 'leased', leaseUntil }]) {
      await on.store.register(anExecutor(executor));
    }
    const attempt = await started(on, {}, 'killed');

    await assertUnchanged(on, attempt, () => on.store.retireUnleased(['alive']));

    const startable = [];
    for (const id of ['executor-1', 'killed', 'alive', 'leased']) {
      startable.push((await on.store.tryStart(keyOf(await submitted(on)), id)) !== null);
    }
    assert.deepEqual(startable, [false, false, true, true]);
    assert.deepEqual(await settled(on, succeeded(attempt)), { answer: 'settled', state: 'succeeded' });
  }),

  fact('what a retired executor left running is recovered with what lapsed', async on => {
    const attempt = await startedWithLease(on, { onInterrupt: 'requeue' });
    await on.store.retire('leased');

    assert.deepEqual(await recoverLapsed(on, 10), { lapsed: [], recovered: 1 });
    assertHas(await jobOf(on, attempt), { state: 'queued', failureReason: 'lease_lapsed' });
  }),

  fact('no more attempts are recovered at once than was asked for, and the others next time', async on => {
    const first = await startedWithLease(on);
    const attempts = [first];
    for (let index = 0; index < 4; index++) {
      attempts.push(await started(on, {}, 'leased'));
    }
    on.clock.advance(minute);

    assert.deepEqual(await recoverLapsed(on, 3), { lapsed: ['leased'], recovered: 3 });
    assert.equal((await on.store.running({ limit: 10 })).length, 2);
    assert.deepEqual(await recoverLapsed(on, 3), { lapsed: [], recovered: 2 });
  }),

  fact('of six who look for lapsed executors at once, one declares each of them dead', async on => {
    const handles = await on.handles(6);
    for (const id of ['a', 'b', 'c']) {
      await on.store.register(anExecutor({ id, leaseUntil: on.clock.now() + minuteInMicros }));
      await started(on, {}, id);
      await started(on, {}, id);
    }
    on.clock.advance(minute);

    const answers = await Promise.all(handles.map(({ store }) => store.recoverLapsed(100)));
    const rest = await on.store.recoverLapsed(100);

    assert.deepEqual(answers.flatMap(({ lapsed }) => lapsed).sort(), ['a', 'b', 'c']);
    assert.equal(
      [...answers, rest].reduce((sum, { recovered }) => sum + recovered.length, 0),
      6,
    );
    assert.deepEqual(await on.store.running({ limit: 10 }), []);
  }),

  fact('of a renewal and a declaration at once, one decides who owns the job', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 10; round++) {
      const id = `racer-${round}`;
      await on.store.register(anExecutor({ id, leaseUntil: on.clock.now() + minuteInMicros }));
      const attempt = await started(on, { onInterrupt: 'requeue' }, id);
      on.clock.advance(minute);

      const [renewal] = await Promise.all([
        a!.store.renew(id, on.clock.now() + minuteInMicros),
        b!.store.recoverLapsed(10),
      ]);
      await b!.store.recoverLapsed(10);

      const isMine = renewal.answer === 'renewed';
      assert.equal(await stateOf(on, attempt), isMine ? 'running' : 'queued');
      assert.deepEqual(
        await settled(on, succeeded(attempt)),
        isMine ? { answer: 'settled', state: 'succeeded' } : { answer: 'lost' },
      );
      await on.store.cancel(keyOf(attempt), {});
    }
  }),

  fact('a job that was lost with two executors still has its retries', async on => {
    const job = await submitted(on, { onInterrupt: 'requeue', maxAttempts: 3 });
    for (const id of ['first', 'second']) {
      await on.store.register(anExecutor({ id, leaseUntil: on.clock.now() + minuteInMicros }));
      await on.store.tryStart(keyOf(job), id);
      on.clock.advance(minute);
      await on.store.recoverLapsed(10);
    }

    assertHas(await jobOf(on, job), { state: 'queued', attemptCount: 2, failureCount: 0 });
  }),
]);

async function recoverLapsed(
  on: FactContext,
  limit: number,
): Promise<{ lapsed: readonly string[]; recovered: number }> {
  const { lapsed, recovered } = await on.store.recoverLapsed(limit);
  return { lapsed, recovered: recovered.length };
}

/** A job that the executor `leased` runs, whose lease ends in a minute. */
async function startedWithLease(on: FactContext, given: SubmissionGiven = {}): Promise<Attempt> {
  await on.store.register(anExecutor({ id: 'leased', leaseUntil: on.clock.now() + minuteInMicros }));
  return started(on, given, 'leased');
}
