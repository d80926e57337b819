import { assert } from '../assert.ts';
import type { JobState } from '../../core/states.ts';
import { microsOf } from '../../core/time.ts';
import { aJobIn, assertHas, assertUnchanged, jobOf, only, startOf, submitted } from '../arrange.ts';
import { aClaim, anExecutor, aSubmission, buildReport, keyOf } from '../builders.ts';
import { fact, group } from '../fact.ts';

const notStartable: readonly JobState[] = ['awaiting', 'running', 'succeeded', 'failed', 'cancelled', 'interrupted'];

export const startingByKey = group('Starting one job by its key', [
  fact('a due job is started by its key: running, a counted start and a running attempt', async on => {
    await on.store.register(anExecutor({ id: 'starter' }));
    const job = await submitted(on);
    on.clock.advance(1000);

    const attempt = await on.store.tryStart(keyOf(job), 'starter');

    assertHas(attempt, { ...keyOf(job), attempt: 1, startedAt: on.clock.now() });
    assertHas(await jobOf(on, job), { state: 'running', attemptCount: 1 });
    assertHas(only(await on.store.attempts(keyOf(job))), {
      attempt: 1,
      state: 'running',
      executorId: 'starter',
      startedAt: on.clock.date(),
    });
  }),

  fact('a start by key answers what a claim of the same job answers', async on => {
    const given = { payload: { a: 1 }, metadata: { a: 'b' }, timeout: '5s', priority: 2 } as const;
    const [one, other] = [aSubmission(given), aSubmission(given)];
    await on.store.submit([one, other]);

    const { token: _, id: __, ...byKey } = await startOf(on, one);
    const { token: ___, id: ____, ...claimed } = only((await on.store.claim(aClaim())).attempts);

    assert.deepEqual(byKey, claimed);
  }),

  fact('a start by key asks for no definition', async on => {
    const job = await submitted(on, { definition: buildReport });

    assertHas(await on.store.tryStart(keyOf(job), 'executor-1'), { name: 'report.build', version: '2' });
  }),

  fact('a job is started by its key at its instant, and not a microsecond before', async on => {
    const notBefore = new Date('2030-06-01T00:00:00Z');
    const job = await submitted(on, { notBefore });

    on.clock.set(microsOf(notBefore) - 1);
    await assertUnchanged(on, job, async () => {
      assert.equal(await on.store.tryStart(keyOf(job), 'executor-1'), null);
    });
    on.clock.set(microsOf(notBefore));
    assert.ok(await on.store.tryStart(keyOf(job), 'executor-1'));
  }),

  notStartable.map(state =>
    fact(`a job that is ${state} is not started by its key`, async on => {
      const key = await aJobIn(on, state);
      on.clock.advance(86_400_000);

      const answer = await assertUnchanged(on, key, () => on.store.tryStart(key, 'executor-1'));

      assert.equal(answer, null);
    }),
  ),

  fact('an unknown job is not started', async ({ store }) => {
    assert.equal(await store.tryStart({ scope: '', id: 'nobody' }, 'executor-1'), null);
  }),

  fact('of eight who start one job at once, one gets it', async on => {
    const handles = await on.handles(8);

    for (let round = 0; round < 3; round++) {
      const job = await submitted(on);
      const answers = await Promise.all(handles.map(({ store }) => store.tryStart(keyOf(job), 'executor-1')));

      assert.equal(answers.filter(attempt => attempt !== null).length, 1);
      assertHas(await jobOf(on, job), { state: 'running', attemptCount: 1 });
      assert.equal((await on.store.attempts(keyOf(job))).length, 1);
    }
  }),
]);
