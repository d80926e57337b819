import assert from 'node:assert/strict';
import type { RecurringJob } from '../../core/recurring.ts';
import { dateOf } from '../../core/time.ts';
import { assertHas, idsOf, jobOf, only, startOf, stateOf } from '../arrange.ts';
import { aClaim, anExecutor, aRecurringJob, keyOf, succeeded, type RecurringGiven } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const hour = 3_600_000_000;
const nobody = { scope: '', id: 'nobody' };

export const recurringJobs = group('Recurring jobs', [
  fact('a recurring job comes back as it was given', async ({ recurring, clock }) => {
    const job = aRecurringJob(clock.now() + hour, {
      scope: 'tenant',
      cron: '*/5 3 * * MON',
      timeZone: 'Europe/Berlin',
      missed: { upTo: 7 },
      overlap: 'skip',
      job: {
        payload: { b: 1, a: 2 },
        queue: 'slow',
        priority: 4,
        maxAttempts: 2,
        onInterrupt: 'requeue',
        timeout: '90s',
        retry: { base: '1s', lifetime: '1d' },
        metadata: { a: 'b' },
      },
    });

    await recurring.upsertRecurring(job);

    assertHas(await recurring.getRecurring(keyOf(job)), { ...job, lastFireAt: null, isPaused: false });
  }),

  fact('what a recurring job leaves out comes back as null', async ({ recurring, clock }) => {
    const [plain, never] = [aRecurringJob(clock.now()), aRecurringJob(null, { missed: 'none', job: { retry: false } })];
    await recurring.upsertRecurring(plain);
    await recurring.upsertRecurring(never);

    assert.deepEqual((await recurring.getRecurring(keyOf(plain)))?.template, plain.template);
    assertHas(await recurring.getRecurring(keyOf(never)), { ...never, lastFireAt: null, isPaused: false });
  }),

  fact('an unknown recurring job is null', async ({ recurring }) => {
    assert.equal(await recurring.getRecurring(nobody), null);
  }),

  fact('an upsert overwrites what the host says', async ({ recurring, clock }) => {
    const first = aRecurringJob(clock.now() + hour, { job: { queue: 'a', priority: 1 } });
    await recurring.upsertRecurring(first);
    const second = aRecurringJob(clock.now() + hour, {
      id: first.id,
      missed: 'none',
      overlap: 'skip',
      job: { payload: 'other', queue: 'b', priority: 2, maxAttempts: 7, timeout: '1s', metadata: { a: 'b' } },
    });

    await recurring.upsertRecurring(second);

    assertHas(await recurring.getRecurring(keyOf(first)), { ...second, lastFireAt: null, isPaused: false });
  }),

  fact('an upsert with the same cron and time zone keeps the next occurrence', async ({ recurring, clock }) => {
    const job = await stored({ recurring }, clock.now() + hour);

    await recurring.upsertRecurring({ ...job, nextFireAt: clock.now() + 2 * hour });

    assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: clock.now() + hour });
  }),

  (['cron', 'timeZone'] as const).map(field =>
    fact(`an upsert with another ${field} takes the next occurrence that it brings`, async ({ recurring, clock }) => {
      const job = await stored({ recurring }, clock.now() + hour);
      const changed = { cron: '30 * * * *', timeZone: 'Europe/Berlin' };

      await recurring.upsertRecurring({ ...job, [field]: changed[field], nextFireAt: clock.now() + 2 * hour });

      assertHas(await recurring.getRecurring(keyOf(job)), {
        [field]: changed[field],
        nextFireAt: clock.now() + 2 * hour,
      });
    }),
  ),

  fact('an upsert brings a next occurrence where none is stored', async ({ recurring, clock }) => {
    const job = await stored({ recurring }, null);

    await recurring.upsertRecurring({ ...job, nextFireAt: clock.now() + hour });

    assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: clock.now() + hour });
  }),

  fact('an upsert keeps what was fired, and whether it is paused', async on => {
    const { recurring, clock } = on;
    const job = await stored(on, clock.now());
    await recurring.fire({
      key: keyOf(job),
      expected: clock.now(),
      next: clock.now() + hour,
      occurrences: [clock.now()],
    });
    await recurring.pauseRecurring(keyOf(job), true, null);

    await recurring.upsertRecurring({ ...job, cron: '30 * * * *', nextFireAt: clock.now() + 2 * hour });

    assertHas(await recurring.getRecurring(keyOf(job)), { lastFireAt: clock.now(), isPaused: true });
  }),

  fact('one id in two scopes is two recurring jobs', async on => {
    const { recurring, clock } = on;
    await stored(on, clock.now() + hour, { scope: 'a', id: 'same' });
    await stored(on, clock.now() + 2 * hour, { scope: 'b', id: 'same' });

    assert.equal(await recurring.removeRecurring({ scope: 'a', id: 'same' }), true);
    assertHas(await recurring.getRecurring({ scope: 'b', id: 'same' }), { nextFireAt: clock.now() + 2 * hour });
  }),

  fact(
    'the recurring jobs of a scope are listed, the soonest first, ties by id, those without a next one last',
    async on => {
      const { recurring, clock } = on;
      await stored(on, null, { id: 'a' });
      await stored(on, clock.now() + 2 * hour, { id: 'b' });
      await stored(on, clock.now() + hour, { id: 'e' });
      await stored(on, clock.now() + hour, { id: 'd' });
      await stored(on, clock.now(), { id: 'c', scope: 'other' });

      assert.deepEqual(idsOf(await recurring.listRecurring('')), ['d', 'e', 'b', 'a']);
      assert.deepEqual(await recurring.listRecurring('nobody'), []);
    },
  ),

  fact('a removed recurring job is gone, and comes no more', async on => {
    const { recurring, clock } = on;
    const job = await stored(on, clock.now());

    assert.equal(await recurring.removeRecurring(keyOf(job)), true);

    assert.equal(await recurring.getRecurring(keyOf(job)), null);
    assert.deepEqual(await recurring.dueRecurring(10), { due: [], nextFireAt: null });
    assert.deepEqual(await recurring.fire(aFiring(job, clock.now())), { won: false, created: 0 });
    assert.equal(await recurring.removeRecurring(keyOf(job)), false);
  }),

  fact('removing a recurring job touches no job that it made, and they still name it', async on => {
    const job = await stored(on, on.clock.now());
    await on.recurring.fire(aFiring(job, on.clock.now()));
    await on.recurring.removeRecurring(keyOf(job));

    const attempt = only((await on.store.claim(aClaim())).attempts);

    assertHas(await jobOf(on, attempt), { recurringId: job.id, state: 'running' });
  }),

  fact('all recurring jobs of a scope are replaced in one call, which answers what it removed', async on => {
    const { recurring, clock } = on;
    const kept = await stored(on, clock.now() + hour, { id: 'kept' });
    await stored(on, clock.now() + hour, { id: 'removed' });
    await stored(on, clock.now() + hour, { id: 'removed', scope: 'other' });
    const added = aRecurringJob(clock.now() + hour, { id: 'added' });

    const removed = await recurring.replaceRecurring('', [{ ...kept, nextFireAt: clock.now() + 2 * hour }, added]);

    assert.deepEqual(removed, ['removed']);
    assert.deepEqual(idsOf(await recurring.listRecurring('')), ['added', 'kept']);
    assertHas(await recurring.getRecurring(keyOf(kept)), { nextFireAt: clock.now() + hour });
    assert.deepEqual(idsOf(await recurring.listRecurring('other')), ['removed']);
    assert.deepEqual((await recurring.replaceRecurring('', [])).sort(), ['added', 'kept']);
    assert.deepEqual(await recurring.listRecurring(''), []);
  }),

  fact('a pause and its end say whether there is such a recurring job', async on => {
    const job = await stored(on, on.clock.now());

    assert.equal(await on.recurring.pauseRecurring(keyOf(job), true, null), true);
    assertHas(await on.recurring.getRecurring(keyOf(job)), { isPaused: true, nextFireAt: on.clock.now() });
    assert.equal(await on.recurring.pauseRecurring(keyOf(job), false, on.clock.now() + hour), true);
    assertHas(await on.recurring.getRecurring(keyOf(job)), { isPaused: false, nextFireAt: on.clock.now() + hour });
    assert.equal(await on.recurring.pauseRecurring(nobody, true, null), false);
  }),

  fact('what is due is listed with the most overdue first, over all scopes and within the limit', async on => {
    const { recurring, clock } = on;
    const now = clock.now();
    await stored(on, now - 1, { id: 'b' });
    await stored(on, now - 2, { id: 'a', scope: 'other' });
    await stored(on, now, { id: 'c' });
    await stored(on, now + 1, { id: 'd' });

    assert.deepEqual(idsOf((await recurring.dueRecurring(10)).due), ['a', 'b', 'c']);
    assert.deepEqual(idsOf((await recurring.dueRecurring(2)).due), ['a', 'b']);
    assert.equal((await recurring.dueRecurring(10)).nextFireAt, now + 1);
  }),

  fact('a recurring job is due at its instant, and not a microsecond before', async on => {
    const { recurring, clock } = on;
    const job = await stored(on, clock.now() + hour);

    clock.set(clock.now() + hour - 1);
    assert.deepEqual(await recurring.dueRecurring(10), { due: [], nextFireAt: job.nextFireAt });
    clock.set(clock.now() + 1);
    assert.deepEqual(idsOf((await recurring.dueRecurring(10)).due), [job.id]);
  }),

  fact('while due ones are left, the next one is due now or since before', async on => {
    const { recurring, clock } = on;
    for (let index = 0; index < 3; index++) {
      await stored(on, clock.now() - index);
    }

    const { nextFireAt } = await recurring.dueRecurring(2);

    assert.ok(nextFireAt !== null && nextFireAt <= clock.now(), `nextFireAt is ${String(nextFireAt)}`);
  }),

  fact('a paused recurring job, and one that comes no more, are never due', async on => {
    const { recurring, clock } = on;
    const job = await stored(on, clock.now());
    await stored(on, null);
    await recurring.pauseRecurring(keyOf(job), true, null);

    assert.deepEqual(await recurring.dueRecurring(10), { due: [], nextFireAt: null });
  }),
]);

export const firing = group('Firing', [
  fact('a fire moves the recurring job on and makes the job of its occurrence', async on => {
    const { recurring, clock } = on;
    const job = await stored(on, clock.now(), {
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
    const job = await stored(on, on.clock.now(), { job: { timeout: '90s', retry } });
    await on.recurring.fire(aFiring(job, on.clock.now()));

    assertHas(only((await on.store.claim(aClaim())).attempts), {
      timeoutMs: 90_000,
      retryPolicy: { baseMs: 1000, factor: 2, capMs: 60_000, jitter: 0, lifetimeMs: 86_400_000 },
      retryUntil: on.clock.now() + 24 * hour,
    });
  }),

  fact('a fire that expects another occurrence than the stored one changes nothing', async on => {
    const job = await stored(on, on.clock.now());

    for (const expected of [on.clock.now() - 1, on.clock.now() + 1]) {
      assert.deepEqual(await on.recurring.fire(aFiring(job, expected)), { won: false, created: 0 });
    }

    assertHas(await on.recurring.getRecurring(keyOf(job)), { nextFireAt: on.clock.now(), lastFireAt: null });
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
  }),

  fact('a fire of an unknown or a paused recurring job changes nothing', async on => {
    const job = await stored(on, on.clock.now());
    await on.recurring.pauseRecurring(keyOf(job), true, null);

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
    const job = await stored(on, now - 2 * hour);
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
    const job = await stored(on, clock.now());

    const firing = { key: keyOf(job), expected: clock.now(), next: clock.now() + hour, occurrences: [] };
    assert.deepEqual(await recurring.fire(firing), { won: true, created: 0 });

    assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: clock.now() + hour, lastFireAt: null });
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
  }),

  fact('the last fire of a recurring job leaves it without a next one', async on => {
    const { recurring, clock } = on;
    const job = await stored(on, clock.now());

    await recurring.fire({ ...aFiring(job, clock.now()), next: null });

    assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: null, lastFireAt: clock.now() });
    assert.deepEqual(await recurring.dueRecurring(10), { due: [], nextFireAt: null });
  }),

  fact('a fire that passes over everything keeps the last one', async on => {
    const { recurring, clock } = on;
    const job = await stored(on, clock.now());
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
    const job = await stored(on, on.clock.now(), { overlap: 'queue' });
    await on.recurring.fire(aFiring(job, on.clock.now()));

    assert.deepEqual(await on.recurring.fire(aFiring(job, on.clock.now() + hour)), { won: true, created: 1 });
  }),

  fact(
    'where occurrences are skipped, an active job of it leaves the next one out, and the schedule moves on',
    async on => {
      const { recurring, clock } = on;
      const job = await stored(on, clock.now(), { overlap: 'skip' });
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
      await stored(on, clock.now(), { overlap: 'skip', id: 'one' }),
      await stored(on, clock.now(), { overlap: 'skip', id: 'two' }),
      await stored(on, clock.now(), { overlap: 'skip', id: 'one', scope: 'other' }),
    ];

    for (const job of jobs) {
      assert.deepEqual(await recurring.fire(aFiring(job, clock.now())), { won: true, created: 1 });
    }
  }),

  fact('of eight who fire one occurrence at once, one wins and one job is made', async on => {
    const handles = await on.handles(8);
    const { clock } = on;
    const job = await stored(on, clock.now());

    const answers = await Promise.all(handles.map(({ recurring }) => recurring.fire(aFiring(job, clock.now()))));

    assert.equal(answers.filter(({ won }) => won).length, 1);
    assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
    assertHas(await on.recurring.getRecurring(keyOf(job)), { nextFireAt: clock.now() + hour });
  }),

  fact('an upsert with the same cron beside a fire never takes the schedule back', async on => {
    const [a, b] = await on.handles(2);
    const { clock } = on;
    const job = await stored(on, clock.now());

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
    const job = await stored(on, clock.now() + hour, { scope: 'tenant', job: { payload: { a: 1 }, queue: 'slow' } });

    const made = await recurring.runRecurringNow(keyOf(job));

    assertHas(made, { scope: 'tenant', queue: 'slow', recurringId: job.id, state: 'queued', notBefore: null });
    assert.deepEqual(await on.store.get(keyOf(made!)), made);
    assert.equal((await startOf(on, made!)).payload, '{"a":1}');
    assertHas(await recurring.getRecurring(keyOf(job)), { ...job, lastFireAt: null, isPaused: false });
  }),

  fact('a job is made by hand also while the recurring job is paused', async on => {
    const job = await stored(on, on.clock.now());
    await on.recurring.pauseRecurring(keyOf(job), true, null);

    const made = await on.recurring.runRecurringNow(keyOf(job));

    assert.equal(await stateOf(on, made!), 'queued');
  }),

  fact('of an unknown recurring job nothing is made by hand', async on => {
    assert.equal(await on.recurring.runRecurringNow(nobody), null);
  }),

  fact('jobs of occurrences are jobs like any other: they are claimed, retried and recorded', async on => {
    await on.store.register(anExecutor({ id: 'other' }));
    const job = await stored(on, on.clock.now(), { job: { maxAttempts: 2 } });
    await on.recurring.fire(aFiring(job, on.clock.now()));
    const attempt = only((await on.store.claim(aClaim({ executorId: 'other' }))).attempts);
    await on.store.recover([attempt], { requeue: 'always', reason: 'shutdown' });

    assertHas(await startOf(on, attempt), { attempt: 2 });
    assert.deepEqual((await jobOf(on, attempt)).notBefore, dateOf(job.nextFireAt!));
  }),
]);

async function stored(
  { recurring }: Pick<FactContext, 'recurring'>,
  nextFireAt: number | null,
  given: RecurringGiven = {},
) {
  const job = aRecurringJob(nextFireAt, given);
  await recurring.upsertRecurring(job);

  return job;
}

/** The fire of one occurrence of an hourly job. */
function aFiring(job: Pick<RecurringJob, 'scope' | 'id'>, occurrence: number) {
  return { key: keyOf(job), expected: occurrence, next: occurrence + hour, occurrences: [occurrence] };
}
