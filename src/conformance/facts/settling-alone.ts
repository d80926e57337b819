import { assert } from '../assert.ts';
import type { Attempt, Progress, Settlement } from '../../core/attempt.ts';
import { jobOf, only, outcomes, settled, started, startOf } from '../arrange.ts';
import { aReport, aSubmission, failed, interrupted, keyOf, rescheduled, snoozed, succeeded } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

type Given = { readonly progress: Progress | null; readonly error: string | null };

const settlements: Readonly<Record<Settlement['outcome'], (attempt: Attempt, given: Given) => Settlement>> = {
  succeeded: (attempt, { progress }) => succeeded(attempt, { progress }),
  failed: (attempt, given) => failed(attempt, given),
  interrupted: (attempt, given) => interrupted(attempt, given),
  rescheduled: (attempt, given) => rescheduled(attempt, attempt.startedAt + 5_000_000, given),
  snoozed: (attempt, { progress }) => snoozed(attempt, attempt.startedAt + 5_000_000, { progress }),
};

const givens: readonly Given[] = [
  { progress: null, error: null },
  { progress: { value: 10, message: null }, error: 'mailbox full' },
  { progress: { value: 90, message: 'page 9' }, error: null },
];

/** A store may write one settlement in another way than several. */
export const settlingAlone = group('Settling alone and in a group', [
  outcomes.map(outcome =>
    fact(`a settlement as ${outcome} does alone what it does in a group`, async on => {
      for (const isToBeCancelled of [false, true]) {
        for (const given of givens) {
          const [alone, grouped, beside] = [await aLaterAttempt(on), await aLaterAttempt(on), await started(on)];
          for (const attempt of isToBeCancelled ? [alone, grouped] : []) await on.store.cancel(keyOf(attempt), {});
          on.clock.advance(1000);

          const answer = await settled(on, settlements[outcome](alone, given));
          const answers = await on.store.settle([settlements[outcome](grouped, given), succeeded(beside)]);

          assert.deepEqual(answer, answers[0]);
          assert.deepEqual(await tracesOf(on, alone), await tracesOf(on, grouped));
        }
      }
    }),
  ),
]);

/** Of a job that failed once and has made some progress since; its unique key is its id. */
async function aLaterAttempt(on: FactContext): Promise<Attempt> {
  const { id } = aSubmission();
  const first = await started(on, { id, uniqueKey: id, maxAttempts: 5 });
  await settled(on, rescheduled(first, on.clock.now(), { error: 'mailbox busy' }));
  const attempt = await startOf(on, first);
  await on.store.progress([aReport(attempt, 40, 'page 4')]);

  return attempt;
}

/** All that a settlement leaves, but for what tells one job from another. */
async function tracesOf(on: FactContext, attempt: Attempt): Promise<unknown> {
  const job = await jobOf(on, attempt);
  const attempts = await on.store.attempts(keyOf(attempt));
  const { created: isKeyFree } = only(await on.store.submit([aSubmission({ uniqueKey: attempt.id })]));

  return {
    job: { ...job, id: null, uniqueKey: null, createdAt: null },
    attempts: attempts.map(each => ({ ...each, id: null })),
    isKeyFree,
  };
}
