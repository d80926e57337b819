import { assert } from '../assert.ts';
import { dateOf, microsOf } from '../../core/time.ts';
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
import { aClaim, aSubmission, failed, keyOf, someSubmissions, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const submitting = group('Submitting', [
  fact('a submission becomes a queued job that is due at once', async ({ store, clock }) => {
    const submission = aSubmission();

    const { job, ...answer } = only(await store.submit([submission]));

    assert.deepEqual(answer, { created: true, matched: 'none' });
    assertHas(job, {
      scope: '',
      id: submission.id,
      state: 'queued',
      attemptCount: 0,
      failureCount: 0,
      progress: 0,
      progressMessage: null,
      resultRef: null,
      failureReason: null,
      lastError: null,
      cancelRequestedAt: null,
      cancelReason: null,
      recurringId: null,
      notBefore: null,
      nextRunAt: clock.date(),
      finishedAt: null,
    });
  }),

  fact('a job has every field of its submission', async on => {
    const notBefore = new Date('2030-02-03T04:05:06.789Z');
    const submission = aSubmission({
      scope: 'tenant ä',
      queue: 'slow',
      priority: -7,
      maxAttempts: 3,
      onInterrupt: 'requeue',
      uniqueKey: 'invoice 7',
      metadata: { source: 'shop', note: 'ü "quoted"' },
      notBefore,
    });

    await on.store.submit([submission]);

    assertHas(await jobOf(on, submission), {
      scope: 'tenant ä',
      id: submission.id,
      name: 'mail.send',
      version: '1',
      queue: 'slow',
      priority: -7,
      maxAttempts: 3,
      attemptLimit: 3,
      onInterrupt: 'requeue',
      uniqueKey: 'invoice 7',
      metadata: { source: 'shop', note: 'ü "quoted"' },
      notBefore,
      nextRunAt: notBefore,
    });
  }),

  fact('what a submission leaves out is null, or empty metadata', async on => {
    const submission = await submitted(on);

    assertHas(await jobOf(on, submission), { uniqueKey: null, metadata: {}, notBefore: null, recurringId: null });
  }),

  fact('a job is created at the time of the clock, or less than a second ahead of it', async on => {
    on.clock.advance(86_400_000);
    const { createdAt } = await jobOf(on, await submitted(on));

    const ahead = createdAt.getTime() - on.clock.date().getTime();
    assert.ok(ahead >= 0 && ahead < 1000, `created ${ahead} ms after the clock's time`);
  }),

  fact('submit answers the job as a read finds it', async ({ store }) => {
    const parent = aSubmission();
    const batch = [parent, aSubmission({ uniqueKey: 'k', metadata: { a: 'b' } }), aSubmission({ after: [parent] })];

    const answered = (await store.submit(batch)).map(({ job }) => job);

    assert.deepEqual(answered, await Promise.all(batch.map(({ scope, id }) => store.get({ scope, id }))));
  }),

  fact('answers stand in the position of what was submitted', async on => {
    const known = await submitted(on);
    const holder = await submitted(on, { uniqueKey: 'k' });
    const fresh = aSubmission();
    const last = aSubmission();

    const results = await on.store.submit([fresh, known, aSubmission({ uniqueKey: 'k' }), last]);

    assert.deepEqual(
      results.map(({ job, matched }) => [job.id, matched]),
      [
        [fresh.id, 'none'],
        [known.id, 'identity'],
        [holder.id, 'uniqueKey'],
        [last.id, 'none'],
      ],
    );
  }),

  fact('an empty batch is answered by an empty list', async ({ store }) => {
    assert.deepEqual(await store.submit([]), []);
  }),

  fact('equal submissions of one batch make one job: the first one makes it', async ({ store }) => {
    const submission = aSubmission();

    const [first, second] = await store.submit([submission, submission]);

    assertHas(first, { created: true, matched: 'none' });
    assertHas(second, { created: false, matched: 'identity' });
    assert.deepEqual(idsOf((await store.claim(aClaim())).attempts), [submission.id]);
  }),

  fact('a batch with a conflict stores nothing', async on => {
    const taken = await submitted(on);
    const [before, after] = [aSubmission(), aSubmission()];

    await assertUnchanged(on, taken, () => {
      const conflicting = aSubmission({ id: taken.id, payload: { other: true } });
      return assertRejects(() => on.store.submit([before, conflicting, after]), 'JOB_IDENTITY_CONFLICT');
    });

    assert.deepEqual([await on.store.get(before), await on.store.get(after)], [null, null]);
  }),

  fact(
    'two different requests under one identity in a batch are a conflict, and nothing is stored',
    async ({ store }) => {
      const first = aSubmission();
      const other = aSubmission();

      await assertRejects(
        () => store.submit([other, first, aSubmission({ id: first.id, payload: { other: true } })]),
        'JOB_IDENTITY_CONFLICT',
      );

      assert.deepEqual([await store.get(first), await store.get(other)], [null, null]);
    },
  ),

  fact('a batch with a job whose parent is not known stores nothing', async ({ store }) => {
    const other = aSubmission();
    const orphan = aSubmission({ after: [{ scope: '', id: 'nobody' }] });

    const error = await assertRejects(() => store.submit([other, orphan]), 'PARENT_NOT_FOUND');

    assertHas(error, { parentId: 'nobody', key: keyOf(orphan) });
    assert.deepEqual([await store.get(other), await store.get(orphan)], [null, null]);
  }),

  fact('jobs of a batch that wait for each other are refused, and nothing is stored', async ({ store }) => {
    const other = aSubmission();
    const chicken = aSubmission({ after: [{ scope: '', id: 'egg' }] });
    const egg = aSubmission({ id: 'egg', after: [chicken] });

    await assertRejects(() => store.submit([other, chicken, egg]), 'INVALID_SUBMISSION');

    assert.deepEqual(await Promise.all([other, chicken, egg].map(key => store.get(key))), [null, null, null]);
  }),

  fact('a batch of more than a thousand jobs is stored whole', async ({ store }) => {
    const batch = someSubmissions(1100);

    const results = await store.submit(batch);

    assert.deepEqual(
      results.map(({ job }) => job.id),
      idsOf(batch),
    );
    assert.ok(results.every(({ created }) => created));
    const { attempts } = await store.claim(aClaim({ limit: 1200 }));
    assert.equal(new Set(idsOf(attempts)).size, 1100);
  }),

  fact('a batch of more than a thousand jobs is not stored at all where its last one is a conflict', async on => {
    const taken = await submitted(on, { notBefore: new Date('2040-01-01') });
    const batch = someSubmissions(1100);

    await assertRejects(
      () => on.store.submit([...batch, aSubmission({ id: taken.id, payload: 'other' })]),
      'JOB_IDENTITY_CONFLICT',
    );

    assert.equal(await on.store.get(batch[0]!), null);
    assert.deepEqual((await on.store.claim(aClaim({ limit: 1200 }))).attempts, []);
  }),

  fact('a payload comes back byte for byte', async on => {
    const json = '{ "b":1.0, "a":9007199254740993,\n"10":"\\u00e4 ä 😀", "2":[] }';
    const submission = await submitted(on, { json });

    assert.equal((await startOf(on, submission)).payload, json);
  }),

  fact('a payload of a million bytes comes back whole', async on => {
    const json = `"${'ä'.repeat(499_999)}"`;
    const submission = await submitted(on, { json });

    assert.ok((await startOf(on, submission)).payload === json, 'the payload is not what was submitted');
  }),

  fact('names, keys and labels that look special are texts like any other', async on => {
    const odd = `__proto__ ' " \\ ? :id $1 %`;
    const submission = aSubmission({ scope: odd, queue: odd, uniqueKey: odd, metadata: { [`x${odd}`]: odd } });
    await on.store.submit([submission]);

    assertHas(await jobOf(on, submission), { queue: odd, uniqueKey: odd, metadata: { [`x${odd}`]: odd } });
    const { attempts } = await on.store.claim(aClaim({ queues: [odd] }));
    assert.deepEqual(idsOf(attempts), [submission.id]);
  }),

  fact('a not-before in the past is kept, and the job is due since then', async on => {
    const past = dateOf(on.clock.now() - 3_600_000_000);
    const submission = await submitted(on, { notBefore: past });

    assertHas(await jobOf(on, submission), { notBefore: past, nextRunAt: past });
    assert.equal((await startOf(on, submission)).scheduledFor, microsOf(past));
  }),

  fact('no retry is scheduled later than the lifetime after a job was first due', async on => {
    const inAnHour = dateOf(on.clock.now() + 3_600_000_000);
    const lifetime = { retry: { lifetime: '1d' } } as const;
    const jobs = [
      await submitted(on, lifetime),
      await submitted(on, { ...lifetime, notBefore: inAnHour }),
      await submitted(on, { ...lifetime, notBefore: new Date('2001-01-01') }),
      await submitted(on),
    ];
    const submittedAt = on.clock.now();
    on.clock.advance(3_600_000);

    const limits = [];
    for (const job of jobs) {
      limits.push((await startOf(on, job)).retryUntil);
    }

    const day = 86_400_000_000;
    assert.deepEqual(limits, [submittedAt + day, microsOf(inAnHour) + day, submittedAt + day, null]);
  }),

  fact('a job stays what it was when others are submitted, started, and end', async on => {
    const bystander = await submitted(on, { queue: 'other' });

    await assertUnchanged(on, bystander, async () => {
      await aJobIn(on, 'cancelled');
      const { attempts } = await on.store.claim(aClaim({ queues: ['default'] }));
      await on.store.settle(attempts.map(attempt => failed(attempt)));
      const attempt = await startOf(on, await submitted(on));
      await on.store.settle([succeeded(attempt)]);
    });
  }),
]);
