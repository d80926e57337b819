import { assert, isTypeError } from '../assert.ts';
import type { JobKey } from '../../core/job-key.ts';
import {
  aJobIn,
  assertHas,
  assertUnchanged,
  attemptStatesOf,
  jobOf,
  only,
  settled,
  settlements,
  started,
  startOf,
  submitted,
} from '../arrange.ts';
import {
  aClaim,
  aReport,
  aSubmission,
  failed,
  interrupted,
  keyOf,
  rescheduled,
  snoozed,
  succeeded,
} from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

/** One write of each kind, on a job that it applies to. */
const writes: ReadonlyArray<
  readonly [what: string, write: (on: FactContext) => Promise<readonly [JobKey, number, number]>]
> = [
  ['claim', on => countedWrite(on, submitted(on), () => on.store.claim(aClaim()))],
  ['start by key', on => countedWrite(on, submitted(on), key => on.store.tryStart(key, 'executor-1'))],
  ['progress report', on => countedWrite(on, started(on), (_, attempt) => on.store.progress([aReport(attempt, 5)]))],
  ['settlement', on => countedWrite(on, started(on), (_, attempt) => settled(on, succeeded(attempt)))],
  ['release', on => countedWrite(on, started(on), (_, attempt) => on.store.release([attempt]))],
  [
    'recovery',
    on =>
      countedWrite(on, started(on), (_, attempt) =>
        on.store.recover([attempt], { requeue: 'always', reason: 'shutdown' }),
      ),
  ],
  ['cancel', on => countedWrite(on, submitted(on), key => on.store.cancel(key, {}))],
  ['cancel mark', on => countedWrite(on, started(on), key => on.store.cancel(key, {}))],
  ['retry', on => countedWrite(on, aJobIn(on, 'failed'), key => on.store.retry(key, {}))],
  [
    'run now',
    on => countedWrite(on, submitted(on, { notBefore: new Date('2031-01-01') }), key => on.store.runNow(key)),
  ],
];

export const reads = group('Reads', [
  fact('an unknown job is null, and has no attempts', async ({ store }) => {
    assert.equal(await store.get({ scope: '', id: 'nobody' }), null);
    assert.deepEqual(await store.attempts({ scope: '', id: 'nobody' }), []);
  }),

  fact('what was read stays as it was read', async on => {
    const job = await submitted(on);
    const before = await jobOf(on, job);
    const copy = { ...before };
    const attempt = await startOf(on, job);
    const running = only(await on.store.attempts(keyOf(job)));
    const runningCopy = { ...running };
    await on.store.progress([aReport(attempt, 50)]);
    await settled(on, failed(attempt));

    assert.deepEqual(before, copy);
    assert.deepEqual(running, runningCopy);
    assertHas(attempt, { attempt: 1, failureCount: 0 });
  }),

  fact('what was read cannot be changed, nor can it change what is stored', async on => {
    const submission = aSubmission({ metadata: { a: 'b' } });
    const { job } = only(await on.store.submit([submission]));

    for (const snapshot of [job, await jobOf(on, submission)]) {
      assert.throws(() => Object.assign(snapshot, { state: 'failed' }), isTypeError);
      assert.throws(() => Object.assign(snapshot.metadata, { a: 'c' }), isTypeError);
    }
    assertHas(await jobOf(on, submission), { state: 'queued', metadata: { a: 'b' } });
  }),

  fact('a read changes nothing', async on => {
    const attempt = await started(on);

    await assertUnchanged(on, attempt, async () => {
      await on.store.get(keyOf(attempt));
      await on.store.attempts(keyOf(attempt));
      await on.store.running({ limit: 10 });
    });
  }),

  fact('a snapshot shows no payload', async on => {
    const job = await jobOf(on, await submitted(on, { payload: { secret: 'swordfish' } }));

    assert.ok(!JSON.stringify(job).includes('swordfish'));
  }),

  writes.map(([what, write]) =>
    fact(`a ${what} adds one to the revision of its job`, async on => {
      const [key, before, after] = await write(on);

      assert.equal(after, before + 1, `job "${key.id}" went from revision ${before} to ${after}`);
    }),
  ),

  fact('all attempts of a job are on record, the first one first', async on => {
    const { store, clock } = on;
    const job = await submitted(on, { maxAttempts: 20 });
    await settled(on, rescheduled(await startOf(on, job), clock.now()));
    await settled(on, snoozed(await startOf(on, job), clock.now()));
    await store.recover([await startOf(on, job)], { requeue: 'always', reason: 'shutdown' });
    await store.release([await startOf(on, job)]);
    await settled(on, interrupted(await startOf(on, job)));
    await store.retry(keyOf(job), {});
    const cancelled = await startOf(on, job);
    await store.cancel(keyOf(job), {});
    await settled(on, succeeded(cancelled));
    await store.retry(keyOf(job), {});
    await startOf(on, job);

    assert.deepEqual(await attemptStatesOf(on, job), [
      'failed',
      'snoozed',
      'interrupted',
      'interrupted',
      'cancelled',
      'running',
    ]);
    assert.deepEqual(
      (await store.attempts(keyOf(job))).map(({ attempt }) => attempt),
      [1, 2, 3, 4, 5, 6],
    );
  }),

  fact('fifteen failures are fifteen attempts on record, and fifteen counted', async on => {
    const job = await submitted(on, { maxAttempts: 20 });
    for (let round = 1; round <= 15; round++) {
      await settled(on, rescheduled(await startOf(on, job), on.clock.now(), { error: `failure ${round}` }));
    }

    assertHas(await jobOf(on, job), { attemptCount: 15, failureCount: 15, lastError: 'failure 15' });
    const attempts = await on.store.attempts(keyOf(job));
    assert.deepEqual(
      attempts.map(({ error }) => error),
      Array.from({ length: 15 }, (_, index) => `failure ${index + 1}`),
    );
  }),

  fact('the record of an attempt is written by what ended it', async on => {
    const { store, clock } = on;
    const attempt = await started(on);
    clock.advance(2000);
    await settled(on, settlements.rescheduled(attempt));
    const endedAt = clock.date();
    clock.advance(2000);
    await startOf(on, attempt);

    const [first] = await store.attempts(keyOf(attempt));
    assertHas(first, { endedAt, state: 'failed', error: 'mailbox busy' });
    assert.equal(first!.startedAt.getTime(), endedAt.getTime() - 2000);
  }),
]);

async function countedWrite<K extends JobKey>(
  on: FactContext,
  making: Promise<K>,
  write: (key: JobKey, made: K) => Promise<unknown>,
): Promise<readonly [JobKey, number, number]> {
  const made = await making;
  const key = keyOf(made);
  const before = (await jobOf(on, key)).revision;
  await write(key, made);

  return [key, before, (await jobOf(on, key)).revision];
}
