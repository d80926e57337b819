import { assert } from '../assert.ts';
import { dateOf } from '../../core/time.ts';
import { assertHas, jobOf, only, startOf, stateOf, storedRecurring } from '../arrange.ts';
import { aClaim, aFiring, anExecutor, keyOf, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

const hour = 3_600_000_000;

const nobody = { scope: '', id: 'nobody' };

export const firing = group('Firing', [
  fact('a fire moves the recurring job on and makes the job of its occurrence', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now(), {
      scope: 'tenant',
      job: {
        payload: { a: 1 },
        queue: 'slow',
        priority: 3,
        maxAttempts: 2,
        onInterrupt: 'requeue',
        metadata: { b: 'c' },
      },
    });

    assert.deepEqual(await recurring.fire(aFiring(job, clock.now())), { won: true, created: 1 });

    assertHas(await recurring.getRecurring(keyOf(job)), {
      nextFireAt: clock.now() + hour,
      lastFireAt: clock.now(),
    });
    const attempt = only((await on.store.claim(aClaim())).attempts);
    assertHas(attempt, { scope: 'tenant', payload: '{"a":1}', scheduledFor: clock.now() });
    assertHas(await jobOf(on, attempt), {
      name: 'mail.send',
      version: '1',
      queue: 'slow',
      priority: 3,
      maxAttempts: 2,
      onInterrupt: 'requeue',
      metadata: { b: 'c' },
      recurringId: job.id,
      notBefore: clock.date(),
      uniqueKey: null,
    });
  }),

  fact('the job of an occurrence has the policies of its template', async on => {
    const retry = { base: '1s', factor: 2, cap: '1m', jitter: 0, lifetime: '1d' } as const;
    const job = await storedRecurring(on, on.clock.now(), { job: { timeout: '90s', retry } });
    await on.recurring.fire(aFiring(job, on.clock.now()));

    assertHas(only((await on.store.claim(aClaim())).attempts), {
      timeoutMs: 90_000,
      retryPolicy: { baseMs: 1000, factor: 2, capMs: 60_000, jitter: 0, lifetimeMs: 86_400_000 },
      retryUntil: on.clock.now() + 24 * hour,
    });
  }),

  fact('the job of an occurrence has no trace context: it comes from no request', async on => {
    const traceParent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const job = await storedRecurring(on, on.clock.now(), { job: { trace: { traceParent } } });
    await on.recurring.fire(aFiring(job, on.clock.now()));

    assertHas(only((await on.store.claim(aClaim())).attempts), { trace: null });
  }),

  fact('a fire that expects another occurrence than the stored one changes nothing', async on => {
    const job = await storedRecurring(on, on.clock.now());

    for (const expected of [on.clock.now() - 1, on.clock.now() + 1]) {
      assert.deepEqual(await on.recurring.fire(aFiring(job, expected)), { won: false, created: 0 });
    }

    assertHas(await on.recurring.getRecurring(keyOf(job)), { nextFireAt: on.clock.now(), lastFireAt: null });
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
  }),

  fact('a fire of an unknown or a paused recurring job changes nothing', async on => {
    const job = await storedRecurring(on, on.clock.now());
    await on.recurring.pauseRecurring(keyOf(job));

    assert.deepEqual(await on.recurring.fire(aFiring(job, on.clock.now())), { won: false, created: 0 });
    assert.deepEqual(await on.recurring.fire({ ...aFiring(job, on.clock.now()), key: nobody }), {
      won: false,
      created: 0,
    });
    assertHas(await on.recurring.getRecurring(keyOf(job)), { nextFireAt: on.clock.now(), lastFireAt: null });
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
  }),

  fact('a fire makes up for several occurrences, one job for each, the earliest first', async on => {
    const { recurring, clock } = on;
    const now = clock.now();
    const job = await storedRecurring(on, now - 2 * hour);
    const occurrences = [now - 2 * hour, now - hour, now];

    const answer = await recurring.fire({ key: keyOf(job), expected: now - 2 * hour, next: now + hour, occurrences });

    assert.deepEqual(answer, { won: true, created: 3 });
    assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: now + hour, lastFireAt: now });
    const { attempts } = await on.store.claim(aClaim());
    assert.deepEqual(
      attempts.map(({ scheduledFor }) => scheduledFor),
      occurrences,
    );
  }),

  fact('a fire may pass occurrences over: it moves on and makes nothing', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now());

    const firing = { key: keyOf(job), expected: clock.now(), next: clock.now() + hour, occurrences: [] };
    assert.deepEqual(await recurring.fire(firing), { won: true, created: 0 });

    assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: clock.now() + hour, lastFireAt: null });
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
  }),

  fact('the last fire of a recurring job leaves it without a next one', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now());

    await recurring.fire({ ...aFiring(job, clock.now()), next: null });

    assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: null, lastFireAt: clock.now() });
    assert.deepEqual(await recurring.dueRecurring(10), { due: [], nextFireAt: null });
  }),

  fact('a fire that passes over everything keeps the last one', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now());
    await recurring.fire(aFiring(job, clock.now()));

    await recurring.fire({
      key: keyOf(job),
      expected: clock.now() + hour,
      next: clock.now() + 2 * hour,
      occurrences: [],
    });

    assertHas(await recurring.getRecurring(keyOf(job)), { lastFireAt: clock.now() });
  }),

  fact('where occurrences queue, a job is made beside one that is active', async on => {
    const job = await storedRecurring(on, on.clock.now(), { overlap: 'queue' });
    await on.recurring.fire(aFiring(job, on.clock.now()));

    assert.deepEqual(await on.recurring.fire(aFiring(job, on.clock.now() + hour)), { won: true, created: 1 });
  }),

  fact(
    'where occurrences are skipped, an active job of it leaves the next one out, and the schedule moves on',
    async on => {
      const { recurring, clock } = on;
      const job = await storedRecurring(on, clock.now(), { overlap: 'skip' });
      assert.deepEqual(await recurring.fire(aFiring(job, clock.now())), { won: true, created: 1 });

      assert.deepEqual(await recurring.fire(aFiring(job, clock.now() + hour)), { won: true, created: 0 });
      assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: clock.now() + 2 * hour });

      const attempt = only((await on.store.claim(aClaim())).attempts);
      await on.store.settle([succeeded(attempt)]);
      assert.deepEqual(await recurring.fire(aFiring(job, clock.now() + 2 * hour)), { won: true, created: 1 });
    },
  ),

  fact('where occurrences are skipped, each recurring job and each scope has its own', async on => {
    const { recurring, clock } = on;
    const jobs = [
      await storedRecurring(on, clock.now(), { overlap: 'skip', id: 'one' }),
      await storedRecurring(on, clock.now(), { overlap: 'skip', id: 'two' }),
      await storedRecurring(on, clock.now(), { overlap: 'skip', id: 'one', scope: 'other' }),
    ];

    for (const job of jobs) {
      assert.deepEqual(await recurring.fire(aFiring(job, clock.now())), { won: true, created: 1 });
    }
  }),

  fact('of eight who fire one occurrence at once, one wins and one job is made', async on => {
    const handles = await on.handles(8);
    const { clock } = on;
    const job = await storedRecurring(on, clock.now());

    const answers = await Promise.all(handles.map(({ recurring }) => recurring.fire(aFiring(job, clock.now()))));

    assert.equal(answers.filter(({ won }) => won).length, 1);
    assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
    assertHas(await on.recurring.getRecurring(keyOf(job)), { nextFireAt: clock.now() + hour });
  }),

  fact('an upsert with the same cron beside a fire never takes the schedule back', async on => {
    const [a, b] = await on.handles(2);
    const { clock } = on;
    const job = await storedRecurring(on, clock.now());

    for (let round = 0; round < 8; round++) {
      const expected = clock.now() + round * hour;
      const [, answer] = await Promise.all([
        a!.recurring.upsertRecurring({ ...job, nextFireAt: clock.now() }),
        b!.recurring.fire(aFiring(job, expected)),
      ]);

      assert.deepEqual(answer, { won: true, created: 1 });
      assertHas(await on.recurring.getRecurring(keyOf(job)), { nextFireAt: expected + hour, lastFireAt: expected });
    }
  }),

  fact('a job may be made by hand, and the schedule is left as it is', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now() + hour, {
      scope: 'tenant',
      job: { payload: { a: 1 }, queue: 'slow' },
    });

    const made = await recurring.runRecurringNow(keyOf(job));

    assertHas(made, { scope: 'tenant', queue: 'slow', recurringId: job.id, state: 'queued', notBefore: null });
    assert.deepEqual(await on.store.get(keyOf(made!)), made);
    assert.equal((await startOf(on, made!)).payload, '{"a":1}');
    assertHas(await recurring.getRecurring(keyOf(job)), { ...job, lastFireAt: null, isPaused: false });
  }),

  fact('a job is made by hand also while the recurring job is paused', async on => {
    const job = await storedRecurring(on, on.clock.now());
    await on.recurring.pauseRecurring(keyOf(job));

    const made = await on.recurring.runRecurringNow(keyOf(job));

    assert.equal(await stateOf(on, made!), 'queued');
  }),

  fact('of an unknown recurring job nothing is made by hand', async on => {
    assert.equal(await on.recurring.runRecurringNow(nobody), null);
  }),

  fact('jobs of occurrences are jobs like any other: they are claimed, retried and recorded', async on => {
    await on.store.register(anExecutor({ id: 'other' }));
    const job = await storedRecurring(on, on.clock.now(), { job: { maxAttempts: 2 } });
    await on.recurring.fire(aFiring(job, on.clock.now()));
    const attempt = only((await on.store.claim(aClaim({ executorId: 'other' }))).attempts);
    await on.store.recover([attempt], { requeue: 'always', reason: 'shutdown' });

    assertHas(await startOf(on, attempt), { attempt: 2 });
    assert.deepEqual((await jobOf(on, attempt)).notBefore, dateOf(job.nextFireAt!));
  }),
]);
