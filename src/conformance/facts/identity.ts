import { assert } from '../assert.ts';
import { defineJob } from '../../core/definition.ts';
import type { JobState } from '../../core/states.ts';
import { dateOf } from '../../core/time.ts';
import {
  aJobIn,
  assertHas,
  assertRejects,
  assertUnchanged,
  idsOf,
  jobOf,
  only,
  startOf,
  submitted,
} from '../arrange.ts';
import { aClaim, aSubmission, buildReport, rescheduled, type SubmissionGiven } from '../builders.ts';
import { fact, group } from '../fact.ts';

const notBefore = new Date('2030-03-01T00:00:00Z');

/** One field each, by which a request is another one. */
const differences: ReadonlyArray<readonly [field: string, first: SubmissionGiven, second: SubmissionGiven]> = [
  ['name', {}, { definition: buildReport }],
  [
    'version',
    { definition: buildReport },
    { definition: defineJob<unknown>()({ name: 'report.build', version: '3' }) },
  ],
  ['payload', { payload: { a: 1 } }, { payload: { a: 2 } }],
  ['queue', {}, { queue: 'other' }],
  ['maxAttempts', { maxAttempts: 3 }, { maxAttempts: 4 }],
  ['notBefore', { notBefore }, { notBefore: new Date(notBefore.getTime() + 1) }],
];

const states: readonly JobState[] = ['running', 'succeeded', 'failed', 'cancelled', 'interrupted'];

export const identity = group('Identity', [
  fact('the same request again is answered with the stored job', async on => {
    const submission = await submitted(on);

    const answer = await assertUnchanged(on, submission, () => on.store.submit([submission]));

    assert.deepEqual(only(answer), { job: await jobOf(on, submission), created: false, matched: 'identity' });
    assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
  }),

  states.map(state =>
    fact(`the same request is the same job when that one is ${state}`, async on => {
      const submission = aSubmission();
      await aJobIn(on, state, { id: submission.id });

      const answer = await assertUnchanged(on, submission, () => on.store.submit([submission]));

      assertHas(only(answer), { created: false, matched: 'identity' });
      assert.equal(only(answer).job.state, state);
    }),
  ),

  fact('a reschedule and a retry do not make the same request another one', async on => {
    const submission = aSubmission({ notBefore: on.clock.date() });
    await on.store.submit([submission]);
    const attempt = await startOf(on, submission);
    await on.store.settle([rescheduled(attempt, on.clock.now() + 60_000_000)]);
    assertHas(only(await on.store.submit([submission])), { created: false, matched: 'identity' });

    await on.store.cancel(submission, {});
    await on.store.retry(submission, { at: on.clock.now() + 90_000_000 });

    assertHas(only(await on.store.submit([submission])), { created: false, matched: 'identity' });
  }),

  differences.map(([field, first, second]) =>
    fact(`a request with another ${field} under a taken identity is a conflict that names it`, async on => {
      const stored = await submitted(on, first);

      const error = await assertUnchanged(on, stored, () => {
        return assertRejects(
          () => on.store.submit([aSubmission({ ...second, id: stored.id })]),
          'JOB_IDENTITY_CONFLICT',
        );
      });

      const fields = (error.differences as Array<{ field: string }>).map(difference => difference.field);
      assert.ok(fields.includes(field), `the conflict names ${fields.join(', ')}`);
      assert.deepEqual(error.key, { scope: stored.scope, id: stored.id });
    }),
  ),

  fact('a conflict shows both values, and of payloads none', async on => {
    const stored = await submitted(on, { payload: 'secret one', queue: 'a' });

    const error = await assertRejects(
      () => on.store.submit([aSubmission({ id: stored.id, payload: 'secret two', queue: 'b' })]),
      'JOB_IDENTITY_CONFLICT',
    );

    assert.deepEqual(error.differences, [{ field: 'queue', stored: 'a', submitted: 'b' }, { field: 'payload' }]);
    assert.ok(!String(error.message).includes('secret'));
  }),

  fact('payloads are compared as texts: order and spaces count', async on => {
    const stored = await submitted(on, { json: '{"a":1,"b":2}' });

    for (const json of ['{"b":2,"a":1}', '{"a":1, "b":2}', '{"a":1.0,"b":2}']) {
      await assertRejects(() => on.store.submit([aSubmission({ id: stored.id, json })]), 'JOB_IDENTITY_CONFLICT');
    }
  }),

  fact('no not-before differs from one at the time of the creation', async on => {
    const stored = await submitted(on);

    await assertRejects(
      () => on.store.submit([aSubmission({ id: stored.id, notBefore: dateOf(on.clock.now()) })]),
      'JOB_IDENTITY_CONFLICT',
    );
  }),

  fact('priority, metadata, unique key, parents and policies are not part of the request', async on => {
    const parent = await submitted(on);
    const stored = await submitted(on);
    const again = aSubmission({
      id: stored.id,
      priority: 9,
      metadata: { other: 'yes' },
      uniqueKey: 'another',
      after: [parent],
      onInterrupt: 'requeue',
      timeout: '1m',
      retry: false,
    });

    const answer = await assertUnchanged(on, stored, () => on.store.submit([again]));

    assertHas(only(answer), { created: false, matched: 'identity' });
  }),

  fact('ids are compared exactly', async on => {
    const ids = ['job', 'JOB', 'Job', 'job.', 'jo', '0', '00'];

    for (const id of ids) {
      assertHas(only(await on.store.submit([aSubmission({ id, payload: id })])), { created: true });
    }
    assert.deepEqual(idsOf(await Promise.all(ids.map(id => jobOf(on, { scope: '', id })))), ids);
  }),

  fact('of eight who submit one request at once, one creates the job and all get it', async on => {
    const handles = await on.handles(8);
    const submission = aSubmission();

    const results = (await Promise.all(handles.map(({ store }) => store.submit([submission])))).map(only);

    assert.equal(results.filter(({ created }) => created).length, 1);
    assert.deepEqual(new Set(results.map(({ job }) => job.id)), new Set([submission.id]));
    assert.deepEqual(idsOf((await on.store.claim(aClaim())).attempts), [submission.id]);
  }),

  fact(
    'of eight who submit different requests under one identity at once, one is stored and seven are conflicts',
    async on => {
      const handles = await on.handles(8);
      const requests = handles.map((_, number) => aSubmission({ id: 'contended', payload: { number } }));

      const results = await Promise.allSettled(handles.map(({ store }, index) => store.submit([requests[index]!])));

      const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
      assert.deepEqual(
        refused.map(({ reason }) => (reason as { code?: string }).code),
        Array.from({ length: 7 }, () => 'JOB_IDENTITY_CONFLICT'),
      );
      const stored = results.findIndex(({ status }) => status === 'fulfilled');
      assert.equal(only((await on.store.claim(aClaim())).attempts).payload, requests[stored]!.payload);
    },
  ),

  fact('two batches that submit the same requests in opposite orders at once both get all of them', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 5; round++) {
      const batch = Array.from({ length: 10 }, () => aSubmission());
      const results = await Promise.all([a!.store.submit(batch), b!.store.submit([...batch].reverse())]);

      assert.deepEqual(idsOf(results[0].map(({ job }) => job)), idsOf(batch));
      assert.deepEqual(idsOf(results[1].map(({ job }) => job)), idsOf(batch).reverse());
      const created = results.flat().filter(({ created }) => created);
      assert.equal(created.length, 10);
    }
  }),
]);
