import { assert } from '../assert.ts';
import {
  aJobIn,
  assertHas,
  assertRejects,
  assertUnchanged,
  background,
  idsOf,
  jobOf,
  only,
  outcomes,
  settled,
  settlements,
  started,
  startOf,
  stateOf,
  submitted,
} from '../arrange.ts';
import { aClaim, aSubmission, buildReport, keyOf, rescheduled, snoozed, succeeded } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

export const uniqueKeys = group('Unique keys', [
  fact('a taken unique key is answered with its active holder, and nothing is stored', async on => {
    const holder = await submitted(on, { uniqueKey: 'k' });
    const second = aSubmission({ uniqueKey: 'k' });

    const answer = await assertUnchanged(on, holder, () => on.store.submit([second]));

    assert.deepEqual(only(answer), { job: await jobOf(on, holder), created: false, matched: 'uniqueKey' });
    assert.equal(await on.store.get(second), null);
  }),

  (['queued', 'awaiting', 'running'] as const).map(state =>
    fact(`a job that is ${state} holds its unique key`, async on => {
      const holder = await aJobIn(on, state, { uniqueKey: 'k' });

      assert.equal(await holderOf(on, 'k'), holder.id);
    }),
  ),

  (['succeeded', 'failed', 'cancelled', 'interrupted'] as const).map(state =>
    fact(`a job that is ${state} has given its unique key free, and still shows it`, async on => {
      const key = await aJobIn(on, state, { uniqueKey: 'k' });

      assertHas(only(await on.store.submit([aSubmission({ uniqueKey: 'k' })])), { created: true });
      assertHas(await jobOf(on, key), { uniqueKey: 'k', state });
    }),
  ),

  outcomes.map(outcome =>
    fact(`a job that is cancelled by its settlement as ${outcome} has given its unique key free`, async on => {
      const attempt = await started(on, { uniqueKey: 'k' });
      await on.store.cancel(keyOf(attempt), {});
      assert.equal(await holderOf(on, 'k'), attempt.id);

      const answer = await settled(on, settlements[outcome](attempt));

      assert.deepEqual(answer, { answer: 'settled', state: 'cancelled' });
      assertHas(only(await on.store.submit([aSubmission({ uniqueKey: 'k' })])), { created: true });
    }),
  ),

  fact('a job that a recovery ends, or a release with a cancel mark, has given its unique key free', async on => {
    const [held, marked, released] = [
      await started(on, { uniqueKey: 'held' }),
      await started(on, { uniqueKey: 'marked' }),
      await started(on, { uniqueKey: 'released' }),
    ];
    await on.store.cancel(keyOf(marked), {});
    await on.store.cancel(keyOf(released), {});

    await on.store.recover([held, marked], { requeue: 'never', reason: 'shutdown' });
    await on.store.release([released]);

    for (const uniqueKey of ['held', 'marked', 'released']) {
      assertHas(only(await on.store.submit([aSubmission({ uniqueKey })])), { created: true });
    }
  }),

  fact('a job that was cancelled with its parent has given its unique key free', async on => {
    const parent = await submitted(on);
    await on.store.submit([aSubmission({ uniqueKey: 'k', after: [parent] })]);
    await on.store.cancel(keyOf(parent), {});

    assertHas(only(await on.store.submit([aSubmission({ uniqueKey: 'k' })])), { created: true });
  }),

  fact(
    'a job keeps its unique key while it waits for a retry, for a snooze, after a release and after a recovery',
    async on => {
      const { store, clock } = on;
      const { id, scope } = await submitted(on, { uniqueKey: 'k' });
      const key = { id, scope };

      await store.settle([rescheduled(await startOf(on, key), clock.now())]);
      assert.equal(await holderOf(on, 'k'), id, 'rescheduled');
      await store.settle([snoozed(await startOf(on, key), clock.now())]);
      assert.equal(await holderOf(on, 'k'), id, 'snoozed');
      await store.release([await startOf(on, key)]);
      assert.equal(await holderOf(on, 'k'), id, 'released');
      await store.recover([await startOf(on, key)], { requeue: 'always', reason: 'shutdown' });
      assert.equal(await holderOf(on, 'k'), id, 'recovered');
    },
  ),

  fact('a job keeps its unique key when its parents have succeeded', async on => {
    const parent = await started(on);
    const child = aSubmission({ uniqueKey: 'k', after: [keyOf(parent)] });
    await on.store.submit([child]);
    await on.store.settle([succeeded(parent)]);

    assert.equal(await stateOf(on, child), 'queued');
    assert.equal(await holderOf(on, 'k'), child.id);
  }),

  fact('a retry does not take the unique key back', async on => {
    const key = await aJobIn(on, 'failed', { uniqueKey: 'k' });
    await on.store.retry(key, {});

    assertHas(only(await on.store.submit([aSubmission({ uniqueKey: 'k' })])), { created: true });
  }),

  (['succeeded', 'failed', 'interrupted'] as const).map(outcome =>
    fact(
      `a retried job that has ${outcome === 'interrupted' ? 'been ' : ''}${outcome} leaves its unique key with the job that holds it now`,
      async on => {
        const key = await aJobIn(on, 'failed', { uniqueKey: 'k' });
        await on.store.retry(key, {});
        const holder = await submitted(on, { uniqueKey: 'k' });

        await on.store.settle([settlements[outcome](await startOf(on, key))]);

        assert.equal(await holderOf(on, 'k'), holder.id);
      },
    ),
  ),

  fact('a retried job that is cancelled leaves its unique key with the job that holds it now', async on => {
    const key = await aJobIn(on, 'failed', { uniqueKey: 'k' });
    await on.store.retry(key, {});
    const holder = await submitted(on, { uniqueKey: 'k' });

    await on.store.cancel(key, {});

    assert.equal(await holderOf(on, 'k'), holder.id);
  }),

  fact('a batch that is refused takes no unique key', async on => {
    const known = await submitted(on, { payload: 'one' });
    const orphan = aSubmission({ after: [{ scope: '', id: 'nobody' }] });

    await assertRejects(
      () => on.store.submit([aSubmission({ uniqueKey: 'a' }), aSubmission({ id: known.id, payload: 'two' })]),
      'JOB_IDENTITY_CONFLICT',
    );
    await assertRejects(() => on.store.submit([aSubmission({ uniqueKey: 'b' }), orphan]), 'PARENT_NOT_FOUND');

    for (const uniqueKey of ['a', 'b']) {
      assertHas(only(await on.store.submit([aSubmission({ uniqueKey })])), { created: true });
    }
  }),

  fact('a unique key is one in its scope, whatever the queue and the definition', async on => {
    const holder = await submitted(on, { uniqueKey: 'k' });

    const other = aSubmission({ uniqueKey: 'k', queue: 'other', definition: buildReport });
    assert.equal(only(await on.store.submit([other])).job.id, holder.id);
  }),

  fact('each scope has unique keys of its own, and so has the scope that was not named', async ({ store }) => {
    const scopes = ['', 'a', 'b'];
    const results = await store.submit(scopes.map(scope => aSubmission({ scope, uniqueKey: 'k' })));
    assert.ok(results.every(({ created }) => created));

    const again = await store.submit(scopes.map(scope => aSubmission({ scope, uniqueKey: 'k' })));
    assert.deepEqual(idsOf(again.map(({ job }) => job)), idsOf(results.map(({ job }) => job)));
  }),

  fact('unique keys are compared exactly, and never run together with their scope', async ({ store }) => {
    const pairs = [
      ['a', 'bc'],
      ['ab', 'c'],
      ['', 'abc'],
      ['a', 'BC'],
      ['a', 'bc '],
      ['a', 'b:c'],
      ['a:b', 'c'],
    ] as const;

    const results = await store.submit(pairs.map(([scope, uniqueKey]) => aSubmission({ scope, uniqueKey })));

    assert.deepEqual(
      results.map(({ created }) => created),
      pairs.map(() => true),
    );
  }),

  fact('of two jobs of one batch with one unique key the first is stored', async ({ store }) => {
    const [first, second] = [aSubmission({ uniqueKey: 'k' }), aSubmission({ uniqueKey: 'k' })];

    const results = await store.submit([first, aSubmission(), second]);

    assert.deepEqual(
      results.map(({ matched }) => matched),
      ['none', 'none', 'uniqueKey'],
    );
    assert.equal(results[2]!.job.id, first.id);
    assert.equal(await store.get(second), null);
  }),

  fact('identity is judged before the unique key', async on => {
    const known = await submitted(on);
    await submitted(on, { uniqueKey: 'k' });

    const again = aSubmission({ id: known.id, uniqueKey: 'k' });

    assertHas(only(await on.store.submit([again])), { matched: 'identity' });
    assert.equal(only(await on.store.submit([again])).job.id, known.id);
  }),

  fact('of eight jobs with one unique key that are submitted at once, one is stored', async on => {
    const handles = await on.handles(8);

    for (let round = 0; round < 3; round++) {
      const submissions = handles.map(() => aSubmission({ uniqueKey: `k${round}`, definition: background }));
      const results = await Promise.all(handles.map(({ store }, index) => store.submit([submissions[index]!])));

      const holders = new Set(results.flat().map(({ job }) => job.id));
      const stored = await Promise.all(submissions.map(key => on.store.get(key)));
      assert.equal(holders.size, 1, 'all are answered with one job');
      assert.deepEqual(
        stored.filter(job => job !== null).map(job => job.id),
        [...holders],
      );
    }
  }),

  fact('who submits a unique key while its holder ends gets the holder or a job of its own', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 10; round++) {
      const holder = await started(on, { uniqueKey: `k${round}` });
      const next = aSubmission({ uniqueKey: `k${round}` });

      const [[result]] = await Promise.all([a!.store.submit([next]), b!.store.settle([succeeded(holder)])]);

      assert.equal(result!.job.id, result!.created ? next.id : holder.id);
      assert.equal((await on.store.get(next)) !== null, result!.created);
    }
    const { attempts } = await on.store.claim(aClaim({ limit: 100 }));
    assert.equal(new Set(idsOf(attempts)).size, attempts.length);
  }),
]);

/** Who has the key, as a submission that meets it is told. */
async function holderOf({ store }: FactContext, uniqueKey: string): Promise<string> {
  const probe = aSubmission({ uniqueKey });
  const { job, created } = only(await store.submit([probe]));
  assert.ok(!created, `the unique key "${uniqueKey}" was free`);

  return job.id;
}
