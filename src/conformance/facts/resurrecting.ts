import { assert } from '../assert.ts';
import type { JobState } from '../../core/states.ts';
import {
  aFamily,
  aJobIn,
  assertHas,
  assertRejects,
  assertUnchanged,
  attemptStatesOf,
  jobOf,
  only,
  settled,
  started,
  startOf,
  stateOf,
  submitted,
} from '../arrange.ts';
import {
  aClaim,
  aReport,
  aSubmission,
  buildReport,
  failed,
  interrupted,
  keyOf,
  sendMail,
  succeeded,
} from '../builders.ts';
import { fact, group } from '../fact.ts';

const notFinished: readonly JobState[] = ['awaiting', 'queued', 'running'];
const repair = sendMail.create({ to: 'ada' });

export const resurrecting = group('Resurrecting', [
  (['failed', 'cancelled', 'interrupted'] as const).map(state =>
    fact(`a job that has ${state === 'failed' ? '' : 'been '}${state} comes back, due at once`, async on => {
      const key = await aJobIn(on, state);
      on.clock.advance(5000);

      assert.equal(await on.store.resurrect(key, {}), 'queued');

      assertHas(await jobOf(on, key), { state: 'queued', nextRunAt: on.clock.date(), finishedAt: null });
      assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
    }),
  ),

  fact('a resurrected job has as many starts as were submitted, though all had been spent', async on => {
    const job = await submitted(on, { maxAttempts: 2 });
    await settled(on, failed(await startOf(on, job)));
    await on.store.retry(keyOf(job), {});
    await settled(on, failed(await startOf(on, job)));
    assert.equal(await on.store.retry(keyOf(job), {}), 'no_starts_left');

    assert.equal(await on.store.resurrect(keyOf(job), {}), 'queued');

    assertHas(await jobOf(on, job), { attemptCount: 2, attemptLimit: 4, maxAttempts: 2, failureCount: 0 });
    const third = await startOf(on, job);
    assertHas(third, { attempt: 3, attemptLimit: 4, failureCount: 0 });
    await settled(on, failed(third));
    assert.deepEqual(await attemptStatesOf(on, job), ['failed', 'failed', 'failed']);
  }),

  fact('no lifetime limits the retries of a resurrected job', async on => {
    const attempt = await started(on, { retry: { lifetime: '1h' } });
    assert.ok(attempt.retryUntil !== null);
    await settled(on, failed(attempt));

    await on.store.resurrect(keyOf(attempt), {});

    assert.equal((await startOf(on, attempt)).retryUntil, null);
  }),

  fact('nothing of the last run or of a cancel is left on a resurrected job', async on => {
    const attempt = await started(on);
    await on.store.progress([aReport(attempt, 70, 'page 7')]);
    await on.store.cancel(keyOf(attempt), { reason: 'stop' });
    await settled(on, failed(attempt, { error: 'boom' }));

    await on.store.resurrect(keyOf(attempt), {});

    assertHas(await jobOf(on, attempt), {
      progress: 0,
      progressMessage: null,
      lastError: null,
      failureReason: null,
      cancelRequestedAt: null,
      cancelReason: null,
      resultRef: null,
    });
    assert.deepEqual(await on.store.status([await startOf(on, attempt)]), ['active']);
  }),

  notFinished.map(state =>
    fact(`a job that is ${state} is not resurrected`, async on => {
      const key = await aJobIn(on, state);

      assert.equal(
        await assertUnchanged(on, key, () => on.store.resurrect(key, { repair, actor: 'ann' })),
        'not_finished',
      );
    }),
  ),

  fact('a job that has succeeded is not resurrected', async on => {
    const key = await aJobIn(on, 'succeeded');

    assert.equal(await assertUnchanged(on, key, () => on.store.resurrect(key, { repair })), 'succeeded');
  }),

  fact('an unknown job is not found by a resurrection', async ({ store }) => {
    assert.equal(await store.resurrect({ scope: '', id: 'nobody' }, { repair }), 'not_found');
  }),

  fact('of eight who resurrect one job at once, one does', async on => {
    const handles = await on.handles(8);
    const key = await aJobIn(on, 'failed');

    const answers = await Promise.all(handles.map(({ store }) => store.resurrect(key, {})));

    assert.deepEqual(answers.sort(), [...Array.from({ length: 7 }, () => 'not_finished'), 'queued']);
  }),

  fact('a repaired payload is run in the place of the submitted one, also after a later retry', async on => {
    const job = await submitted(on, { payload: { to: 'nobody' } });
    await settled(on, failed(await startOf(on, job)));
    assert.equal((await jobOf(on, job)).isRepaired, false);

    assert.equal(await on.store.resurrect(keyOf(job), { repair }), 'queued');

    assert.equal((await jobOf(on, job)).isRepaired, true);
    const { job: listed } = only(await on.store.list({}, { after: null, limit: 10 }));
    assert.equal(listed.isRepaired, true);
    const claimed = only((await on.store.claim(aClaim())).attempts);
    assert.equal(claimed.payload, repair.payload);
    await settled(on, interrupted(claimed));
    await on.store.retry(keyOf(job), {});
    assert.equal((await startOf(on, job)).payload, repair.payload);
  }),

  fact('a resurrection without a repair keeps an earlier one, and the next repair replaces it', async on => {
    const key = await aJobIn(on, 'failed');
    await on.store.resurrect(key, { repair });
    await settled(on, failed(await startOf(on, key)));

    await on.store.resurrect(key, {});
    const second = await startOf(on, key);
    assert.equal(second.payload, repair.payload);
    await settled(on, failed(second));
    await on.store.resurrect(key, { repair: sendMail.create({ to: 'bob' }) });

    assert.equal((await startOf(on, key)).payload, '{"to":"bob"}');
  }),

  (['name', 'version'] as const).map(field =>
    fact(`a repair of another ${field} is refused, whatever has become of the job`, async on => {
      const foreign = { name: sendMail.name, version: sendMail.version, payload: '{}', [field]: 'other' };

      for (const state of ['failed', 'queued', 'succeeded'] as const) {
        const key = await aJobIn(on, state);
        const error = await assertUnchanged(on, key, () =>
          assertRejects(() => on.store.resurrect(key, { repair: foreign }), 'REPAIR_MISMATCH'),
        );

        assert.deepEqual(error.key, key);
        assert.deepEqual(error.stored, { name: 'mail.send', version: '1' });
        assert.deepEqual(error.repaired, { name: foreign.name, version: foreign.version });
      }
    }),
  ),

  fact(
    'identity never reads a repair: the submitted request stays the same one, and the repaired one is another',
    async on => {
      const submission = aSubmission({ payload: { to: 'nobody' } });
      await on.store.submit([submission]);
      await settled(on, failed(await startOf(on, submission)));
      await on.store.resurrect(keyOf(submission), { repair });

      assertHas(only(await on.store.submit([submission])), { created: false, matched: 'identity' });
      const repeated = aSubmission({ id: submission.id, payload: { to: 'ada' } });
      await assertRejects(() => on.store.submit([repeated]), 'JOB_IDENTITY_CONFLICT');
    },
  ),

  fact('a resurrected job may have another priority and wait in another queue', async on => {
    const key = await aJobIn(on, 'failed', { queue: 'slow', priority: 1 });

    await on.store.resurrect(key, { priority: 7, queue: 'repairs' });

    assertHas(await jobOf(on, key), { priority: 7, queue: 'repairs' });
    assert.deepEqual((await on.store.claim(aClaim({ queues: ['slow'] }))).attempts, []);
    const claimed = only((await on.store.claim(aClaim({ queues: ['repairs'] }))).attempts);
    assertHas(claimed, { priority: 7, queue: 'repairs' });
  }),

  fact('identity never reads the queue that a job was moved to, however often', async on => {
    const submission = aSubmission({ queue: 'slow' });
    await on.store.submit([submission]);
    for (const queue of ['repairs', 'others']) {
      await settled(on, failed(await startOf(on, submission)));
      await on.store.resurrect(keyOf(submission), { queue });
    }

    const { job, created } = only(await on.store.submit([submission]));

    assert.deepEqual([created, job.queue], [false, 'others']);
    const moved = aSubmission({ id: submission.id, queue: 'others' });
    await assertRejects(() => on.store.submit([moved]), 'JOB_IDENTITY_CONFLICT');
  }),

  fact('what is not said of a resurrected job stays', async on => {
    const given = { queue: 'slow', priority: 3, metadata: { a: 'b' }, onInterrupt: 'requeue', maxAttempts: 4 } as const;
    const key = await aJobIn(on, 'failed', given);
    await on.store.resurrect(key, {});

    assertHas(await jobOf(on, key), { ...given, isRepaired: false, attemptCount: 1 });
  }),

  fact('a resurrection does not take the unique key back', async on => {
    const key = await aJobIn(on, 'failed', { uniqueKey: 'invoice-7' });
    const holder = await submitted(on, { uniqueKey: 'invoice-7' });

    assert.equal(await on.store.resurrect(key, {}), 'queued');

    const { job } = only(await on.store.submit([aSubmission({ uniqueKey: 'invoice-7' })]));
    assert.equal(job.id, holder.id);
  }),

  fact('a resurrected job waits for its parents again where one of them is active', async on => {
    const parent = await submitted(on);
    const child = await submitted(on, { after: [parent] });
    await on.store.cancel(keyOf(parent), {});
    await on.store.resurrect(keyOf(parent), {});

    assert.equal(await on.store.resurrect(keyOf(child), {}), 'awaiting');

    await settled(on, succeeded(await startOf(on, parent)));
    assert.equal(await stateOf(on, child), 'queued');
  }),

  fact('a job whose parent has failed is not resurrected', async on => {
    const [parent, child] = await aFamily(on);
    await settled(on, failed(parent));

    const answer = await assertUnchanged(on, child, () => on.store.resurrect(child, {}));

    assert.equal(answer, 'parents_not_succeeded');
  }),

  fact('who did the last operator action is kept, and forgotten with one by nobody', async on => {
    const key = keyOf(await submitted(on, { definition: buildReport }));
    assert.equal((await jobOf(on, key)).changedBy, null);
    const after = async (act: () => Promise<unknown>) => {
      await act();
      return (await jobOf(on, key)).changedBy;
    };

    assert.equal(await after(() => on.store.cancel(key, { actor: 'ann' })), 'ann');
    assert.equal(await after(() => on.store.resurrect(key, { actor: 'bob' })), 'bob');
    assert.equal(await after(() => on.store.runNow(key, { actor: 'cleo' })), 'cleo');
    await settled(on, failed(await startOf(on, key)));
    assert.equal(await after(() => on.store.retry(key, { actor: 'dan' })), 'dan');
    assert.equal(await after(() => on.store.runNow(key)), null);
  }),
]);
