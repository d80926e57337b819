import { assert } from '../assert.ts';
import type { JobKey } from '../../core/job-key.ts';
import { assertHas, idsOf, jobOf, only, storedRecurring } from '../arrange.ts';
import { aClaim, aFiring, aRecurringJob, buildReport, keyOf } from '../builders.ts';
import { fact, group } from '../fact.ts';

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
      missed: { upTo: 3 },
      overlap: 'skip',
      job: {
        definition: buildReport,
        payload: 'other',
        queue: 'b',
        priority: 2,
        maxAttempts: 7,
        onInterrupt: 'requeue',
        timeout: '1s',
        retry: { base: '3s', lifetime: '1d' },
        metadata: { a: 'b' },
      },
    });

    await recurring.upsertRecurring(second);

    assertHas(await recurring.getRecurring(keyOf(first)), { ...second, lastFireAt: null, isPaused: false });
  }),

  fact('an upsert with the same cron and time zone keeps the next occurrence', async ({ recurring, clock }) => {
    const job = await storedRecurring({ recurring }, clock.now() + hour);

    await recurring.upsertRecurring({ ...job, nextFireAt: clock.now() + 2 * hour });

    assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: clock.now() + hour });
  }),

  (['cron', 'timeZone'] as const).map(field =>
    fact(`an upsert with another ${field} takes the next occurrence that it brings`, async ({ recurring, clock }) => {
      const job = await storedRecurring({ recurring }, clock.now() + hour);
      const changed = { cron: '30 * * * *', timeZone: 'Europe/Berlin' };

      await recurring.upsertRecurring({ ...job, [field]: changed[field], nextFireAt: clock.now() + 2 * hour });

      assertHas(await recurring.getRecurring(keyOf(job)), {
        [field]: changed[field],
        nextFireAt: clock.now() + 2 * hour,
      });
    }),
  ),

  fact('an upsert brings a next occurrence where none is stored', async ({ recurring, clock }) => {
    const job = await storedRecurring({ recurring }, null);

    await recurring.upsertRecurring({ ...job, nextFireAt: clock.now() + hour });

    assertHas(await recurring.getRecurring(keyOf(job)), { nextFireAt: clock.now() + hour });
  }),

  fact('an upsert keeps what was fired, and whether it is paused', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now());
    await recurring.fire({
      key: keyOf(job),
      expected: clock.now(),
      next: clock.now() + hour,
      occurrences: [clock.now()],
    });
    await recurring.pauseRecurring(keyOf(job));

    await recurring.upsertRecurring({ ...job, cron: '30 * * * *', nextFireAt: clock.now() + 2 * hour });

    assertHas(await recurring.getRecurring(keyOf(job)), { lastFireAt: clock.now(), isPaused: true });
  }),

  fact('one id in two scopes is two recurring jobs', async on => {
    const { recurring, clock } = on;
    await storedRecurring(on, clock.now() + hour, { scope: 'a', id: 'same' });
    await storedRecurring(on, clock.now() + 2 * hour, { scope: 'b', id: 'same' });

    assert.equal(await recurring.removeRecurring({ scope: 'a', id: 'same' }), true);
    assertHas(await recurring.getRecurring({ scope: 'b', id: 'same' }), { nextFireAt: clock.now() + 2 * hour });
  }),

  (
    [
      ['a call for one scope leaves the recurring jobs of the same id in others as they are', ['a', 'b', 'c'], ['x']],
      ['a call for one recurring job leaves the others of its scope as they are', ['a'], ['x', 'y', 'z']],
    ] as const
  ).map(([title, scopes, ids]) =>
    fact(title, async on => {
      const { recurring, clock } = on;
      const [mine, other, paused] = await Promise.all(
        [0, 1, 2].map(index => {
          return storedRecurring(on, clock.now(), { scope: scopes[index] ?? scopes[0], id: ids[index] ?? ids[0] });
        }),
      );
      const read = (job: JobKey) => recurring.getRecurring(keyOf(job));
      const asStored = await read(other!);
      await recurring.pauseRecurring(keyOf(paused!));
      const asPaused = await read(paused!);

      const { cron, timeZone } = mine!;
      await recurring.fire(aFiring(mine!, clock.now()));
      await recurring.pauseRecurring(keyOf(mine!));
      await recurring.resumeRecurring(keyOf(mine!), { cron, timeZone, next: clock.now() });
      await recurring.upsertRecurring({ ...mine!, cron: '30 * * * *' });
      await recurring.removeRecurring(keyOf(mine!));

      assert.deepEqual([await read(other!), await read(paused!)], [asStored, asPaused]);
    }),
  ),

  fact(
    'the recurring jobs of a scope are listed, the soonest first, ties by id, those without a next one last',
    async on => {
      const { recurring, clock } = on;
      await storedRecurring(on, null, { id: 'a' });
      await storedRecurring(on, clock.now() + 2 * hour, { id: 'b' });
      await storedRecurring(on, clock.now() + hour, { id: 'e' });
      await storedRecurring(on, clock.now() + hour, { id: 'd' });
      await storedRecurring(on, clock.now(), { id: 'c', scope: 'other' });

      assert.deepEqual(idsOf(await recurring.listRecurring('')), ['d', 'e', 'b', 'a']);
      assert.deepEqual(await recurring.listRecurring('nobody'), []);
    },
  ),

  fact('a removed recurring job is gone, and comes no more', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now());

    assert.equal(await recurring.removeRecurring(keyOf(job)), true);

    assert.equal(await recurring.getRecurring(keyOf(job)), null);
    assert.deepEqual(await recurring.dueRecurring(10), { due: [], nextFireAt: null });
    assert.deepEqual(await recurring.fire(aFiring(job, clock.now())), { won: false, created: 0 });
    assert.equal(await recurring.removeRecurring(keyOf(job)), false);
  }),

  fact('removing a recurring job touches no job that it made, and they still name it', async on => {
    const job = await storedRecurring(on, on.clock.now());
    await on.recurring.fire(aFiring(job, on.clock.now()));
    await on.recurring.removeRecurring(keyOf(job));

    const attempt = only((await on.store.claim(aClaim())).attempts);

    assertHas(await jobOf(on, attempt), { recurringId: job.id, state: 'running' });
  }),

  fact('all recurring jobs of a scope are replaced in one call, which answers what it removed', async on => {
    const { recurring, clock } = on;
    const kept = await storedRecurring(on, clock.now() + hour, { id: 'kept' });
    await storedRecurring(on, clock.now() + hour, { id: 'removed' });
    await storedRecurring(on, clock.now() + hour, { id: 'removed', scope: 'other' });
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
    const job = await storedRecurring(on, on.clock.now());

    assert.equal(await on.recurring.pauseRecurring(keyOf(job)), true);
    assertHas(await on.recurring.getRecurring(keyOf(job)), { isPaused: true, nextFireAt: on.clock.now() });
    const resumption = { cron: job.cron, timeZone: job.timeZone, next: on.clock.now() + hour };
    assert.equal(await on.recurring.resumeRecurring(keyOf(job), resumption), true);
    assertHas(await on.recurring.getRecurring(keyOf(job)), { isPaused: false, nextFireAt: on.clock.now() + hour });
    assert.equal(await on.recurring.pauseRecurring(nobody), false);
    assert.equal(await on.recurring.resumeRecurring(nobody, resumption), false);
  }),

  fact('a resumed recurring job that was not paused, or has no next occurrence, keeps the stored one', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now());
    const { cron, timeZone } = job;

    await recurring.resumeRecurring(keyOf(job), { cron, timeZone, next: clock.now() + hour });
    assertHas(await recurring.getRecurring(keyOf(job)), { isPaused: false, nextFireAt: clock.now() });

    await recurring.pauseRecurring(keyOf(job));
    await recurring.resumeRecurring(keyOf(job), { cron, timeZone, next: null });
    assertHas(await recurring.getRecurring(keyOf(job)), { isPaused: false, nextFireAt: clock.now() });
  }),

  fact('a recurring job whose cron or time zone was changed since it was read is not resumed', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now());
    await recurring.pauseRecurring(keyOf(job));
    const stored = await recurring.getRecurring(keyOf(job));
    const { cron, timeZone } = job;
    const next = clock.now() + hour;

    assert.equal(await recurring.resumeRecurring(keyOf(job), { cron: '1 1 1 1 *', timeZone, next }), false);
    assert.equal(await recurring.resumeRecurring(keyOf(job), { cron, timeZone: 'Asia/Tokyo', next }), false);

    assert.deepEqual(await recurring.getRecurring(keyOf(job)), stored);
  }),

  fact('what is due is listed with the most overdue first, over all scopes and within the limit', async on => {
    const { recurring, clock } = on;
    const now = clock.now();
    await storedRecurring(on, now - 1, { id: 'c' });
    await storedRecurring(on, now - 2, { id: 'd', scope: 'other' });
    await storedRecurring(on, now - 3, { id: 'e' });
    await storedRecurring(on, now, { id: 'b', scope: 'other' });
    await storedRecurring(on, now + 1, { id: 'a' });

    assert.deepEqual(idsOf((await recurring.dueRecurring(10)).due), ['e', 'd', 'c', 'b']);
    assert.deepEqual(idsOf((await recurring.dueRecurring(2)).due), ['e', 'd']);
    assert.equal((await recurring.dueRecurring(10)).nextFireAt, now + 1);
  }),

  fact('a recurring job is due at its instant, and not a microsecond before', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now() + hour);

    clock.set(clock.now() + hour - 1);
    assert.deepEqual(await recurring.dueRecurring(10), { due: [], nextFireAt: job.nextFireAt });
    clock.set(clock.now() + 1);
    assert.deepEqual(idsOf((await recurring.dueRecurring(10)).due), [job.id]);
  }),

  fact('while due ones are left, the next one is due now or since before', async on => {
    const { recurring, clock } = on;
    for (let index = 0; index < 3; index++) {
      await storedRecurring(on, clock.now() - index);
    }

    const { nextFireAt } = await recurring.dueRecurring(2);

    assert.ok(nextFireAt !== null && nextFireAt <= clock.now(), `nextFireAt is ${String(nextFireAt)}`);
  }),

  fact('a paused recurring job, and one that comes no more, are never due', async on => {
    const { recurring, clock } = on;
    const job = await storedRecurring(on, clock.now());
    await storedRecurring(on, null);
    await recurring.pauseRecurring(keyOf(job));

    assert.deepEqual(await recurring.dueRecurring(10), { due: [], nextFireAt: null });
  }),
]);
