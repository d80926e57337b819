import { assert } from '../assert.ts';
import {
  assertHas,
  assertUnchanged,
  attemptOf,
  jobOf,
  only,
  outcomes,
  settled,
  settlements,
  started,
  startOf,
} from '../arrange.ts';
import { aClaim, aReport, keyOf, someSubmissions } from '../builders.ts';
import { fact, group } from '../fact.ts';
import type { Handle } from '../harness.ts';

const nobody = { scope: '', id: 'nobody', attempt: 1, token: 'f3f8ad4c-6f0f-4a51-9b1c-9f6f4f3f0000' };

export const progress = group('Progress', [
  fact('progress is written on the job and on its attempt alike', async on => {
    const attempt = await started(on);

    const answer = only(await on.store.progress([aReport(attempt, 40, 'page 4')]));

    assert.deepEqual(answer, { status: 'active', written: true });
    assertHas(await jobOf(on, attempt), { progress: 40, progressMessage: 'page 4', state: 'running' });
    assertHas(await attemptOf(on, attempt), { progress: 40, progressMessage: 'page 4', state: 'running' });
  }),

  fact('progress is written on no other attempt, of this job or of another', async on => {
    const first = await started(on);
    await settled(on, { ...settlements.rescheduled(first), progress: { value: 10, message: 'page 1' } });
    const [second, other] = [await startOf(on, first), await started(on)];

    await on.store.progress([aReport(second, 40, 'page 4')]);

    assertHas(await attemptOf(on, first), { progress: 10, progressMessage: 'page 1' });
    assertHas(await attemptOf(on, other), { progress: 0, progressMessage: null });
    assertHas(await jobOf(on, other), { progress: 0, progressMessage: null });
  }),

  fact('a value below the stored one is not written, nor is its message, and the attempt goes on', async on => {
    const attempt = await started(on);
    await on.store.progress([aReport(attempt, 40, 'page 4')]);

    const answer = await assertUnchanged(on, attempt, () => on.store.progress([aReport(attempt, 39, 'page 3')]));

    assert.deepEqual(only(answer), { status: 'active', written: false });
  }),

  fact('a value equal to the stored one is written', async on => {
    const attempt = await started(on);
    await on.store.progress([aReport(attempt, 40, 'page 4')]);

    assertHas(only(await on.store.progress([aReport(attempt, 40, 'page 5')])), { written: true });
    assertHas(await jobOf(on, attempt), { progress: 40, progressMessage: 'page 5' });
  }),

  fact('a report without a message keeps the one before', async on => {
    const attempt = await started(on);
    await on.store.progress([aReport(attempt, 40, 'page 4')]);
    await on.store.progress([aReport(attempt, 50)]);

    assertHas(await jobOf(on, attempt), { progress: 50, progressMessage: 'page 4' });
    assertHas(await attemptOf(on, attempt), { progress: 50, progressMessage: 'page 4' });
  }),

  fact('after a cancel was requested no progress is written, and the attempt is told', async on => {
    const attempt = await started(on);
    await on.store.cancel(keyOf(attempt), {});

    const answer = await assertUnchanged(on, attempt, () => on.store.progress([aReport(attempt, 40)]));

    assert.deepEqual(only(answer), { status: 'cancel_requested', written: false });
  }),

  outcomes.map(outcome =>
    fact(`an attempt that has ended as ${outcome} writes no progress`, async on => {
      const attempt = await started(on);
      await settled(on, settlements[outcome](attempt));

      const answer = await assertUnchanged(on, attempt, () => on.store.progress([aReport(attempt, 40)]));

      assert.deepEqual(only(answer), { status: 'ended', written: false });
    }),
  ),

  fact('an attempt whose record is gone writes no progress', { needs: ['deleteAttempt'] }, async on => {
    const [missing, other] = [await started(on), await started(on)];
    await on.deleteAttempt(missing);

    const answers = await assertUnchanged(on, missing, () => {
      return on.store.progress([aReport(missing, 40), aReport(other, 40)]);
    });

    assert.deepEqual(answers, [
      { status: 'ended', written: false },
      { status: 'active', written: true },
    ]);
  }),

  fact('reports are answered in their position, each judged by itself', async on => {
    const [first, ended, cancelled, last] = [
      await started(on),
      await started(on),
      await started(on),
      await started(on),
    ];
    await settled(on, settlements.failed(ended));
    await on.store.cancel(keyOf(cancelled), {});

    const answers = await on.store.progress(
      [first, ended, nobody, cancelled, last].map((attempt, index) => aReport(attempt, 10 + index)),
    );

    assert.deepEqual(answers, [
      { status: 'active', written: true },
      { status: 'ended', written: false },
      { status: 'ended', written: false },
      { status: 'cancel_requested', written: false },
      { status: 'active', written: true },
    ]);
    assert.deepEqual([(await jobOf(on, first)).progress, (await jobOf(on, last)).progress], [10, 14]);
  }),

  fact('what is not written of a group is not written on its attempt either', async on => {
    const [ahead, cancelled, other] = [await started(on), await started(on), await started(on)];
    await on.store.progress([aReport(ahead, 40, 'page 4')]);
    await on.store.cancel(keyOf(cancelled), {});

    await assertUnchanged(on, ahead, () => {
      return assertUnchanged(on, cancelled, () => {
        return on.store.progress([aReport(ahead, 39, 'late'), aReport(cancelled, 50, 'late'), aReport(other, 10)]);
      });
    });
    assertHas(await attemptOf(on, other), { progress: 10 });
  }),

  fact('reports of one attempt in a group count in their order', async on => {
    const attempt = await started(on);

    const reports = [aReport(attempt, 10, 'first'), aReport(attempt, 30, 'second'), aReport(attempt, 20, 'third')];
    const answers = await on.store.progress(reports);

    assert.deepEqual(
      answers.map(({ written }) => written),
      [true, true, false],
    );
    assertHas(await jobOf(on, attempt), { progress: 30, progressMessage: 'second' });
  }),

  fact('no reports are answered by an empty list', async ({ store }) => {
    assert.deepEqual(await store.progress([]), []);
  }),

  fact('reports that arrive at once never take progress back', async on => {
    const handles = await on.handles(4);
    const attempt = await started(on);

    const answers = await Promise.all(
      handles.flatMap(({ store }, index) => {
        return [90 - index, 10 + index].map(async value => ({
          value,
          answer: only(await store.progress([aReport(attempt, value)])),
        }));
      }),
    );

    assert.equal((await jobOf(on, attempt)).progress, 90);
    assert.equal((await attemptOf(on, attempt)).progress, 90);
    assert.ok(answers.find(({ value }) => value === 90)!.answer.written, 'the highest value was not written');
  }),

  fact('groups of reports that arrive at once never take progress back', async on => {
    const [a, b] = await on.handles(2);
    await on.store.submit(someSubmissions(20));
    const { attempts } = await on.store.claim(aClaim({ limit: 20 }));
    const report = ({ store }: Handle, value: number) => {
      return store.progress(attempts.map(attempt => aReport(attempt, value)));
    };

    for (let value = 0; value < 100; value += 10) {
      await Promise.all([report(a!, value + 10), report(b!, value + 5)]);

      for (const attempt of attempts) {
        assertHas(await jobOf(on, attempt), { progress: value + 10 });
        assertHas(await attemptOf(on, attempt), { progress: value + 10 });
      }
    }
  }),
]);
