import { assert } from '../assert.ts';
import type { JobKey } from '../../core/job-key.ts';
import type { JobFilter, ListPosition } from '../../core/queries.ts';
import { microsOf } from '../../core/time.ts';
import { aJobIn, idsOf, jobOf, only, settled, started, submitted } from '../arrange.ts';
import { aRecurringJob, aSubmission, buildReport, failed, keyOf, someSubmissions } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const day = 86_400_000;

export const lists = group('Lists of jobs', [
  fact('where there are no jobs, none are listed', async on => {
    assert.deepEqual(await on.store.list({}, { after: null, limit: 10 }), []);
  }),

  fact('jobs are listed with the newest first', async on => {
    const [first, second] = [await submitted(on), await submitted(on)];
    on.clock.advance(1000);
    const batch = someSubmissions(2);
    await on.store.submit(batch);

    assert.deepEqual(await listed(on, {}), idsOf([first, second, ...batch]).reverse());
  }),

  fact('a listed job is as a read finds it, and brings its place in the list', async on => {
    const attempt = await started(on, { scope: 'tenant', payload: { secret: 'swordfish' } });
    await settled(on, failed(attempt));

    const { job, position } = only(await on.store.list({}, { after: null, limit: 10 }));

    assert.deepEqual(job, await jobOf(on, attempt));
    assert.deepEqual([position.scope, position.id], ['tenant', attempt.id]);
    assert.equal(Math.floor(position.createdAt / 1000), job.createdAt.getTime());
    assert.ok(!JSON.stringify(job).includes('swordfish'));
  }),

  fact('no more jobs are listed than was asked for, and the next page goes on after them', async on => {
    const jobs = someSubmissions(5);
    await on.store.submit(jobs);

    const first = await on.store.list({}, { after: null, limit: 3 });
    const second = await on.store.list({}, { after: first.at(-1)!.position, limit: 3 });

    assert.deepEqual([first.length, second.length], [3, 2]);
    assert.deepEqual(idsOf([...first, ...second].map(({ job }) => job)), idsOf(jobs).reverse());
    assert.deepEqual(await on.store.list({}, { after: second.at(-1)!.position, limit: 3 }), []);
  }),

  fact('pages miss no job and show none twice, also where several were created at one instant', async on => {
    const handles = await on.handles(4);
    const jobs: JobKey[] = [];
    for (const [shift, { store }] of handles.entries()) {
      const batch = [0, 1, 2].map(index => aSubmission({ scope: 'abc'.charAt((index + shift) % 3) }));
      await store.submit(batch);
      jobs.push(...batch);
    }

    const seen: string[] = [];
    let after: ListPosition | null = null;
    for (let page = await on.store.list({}, { after, limit: 1 }); page.length > 0;) {
      seen.push(...idsOf(page.map(({ job }) => job)));
      assert.ok(seen.length <= jobs.length, `${seen.length} jobs on pages of one, but there are ${jobs.length}`);
      after = page.at(-1)!.position;
      page = await on.store.list({}, { after, limit: 1 });
    }

    assert.deepEqual([...seen].sort(), idsOf(jobs).sort());
    assert.deepEqual(seen, await listed(on, {}));
  }),

  fact('jobs that come while somebody turns pages move none to another page', async on => {
    const [first, second] = [await submitted(on), await submitted(on)];
    const page = await on.store.list({}, { after: null, limit: 1 });
    await on.store.submit(someSubmissions(3));

    const next = await on.store.list({}, { after: page[0]!.position, limit: 10 });

    assert.deepEqual(idsOf([...page, ...next].map(({ job }) => job)), idsOf([second, first]));
  }),

  fact('a page goes on also where the last job of the one before is gone', { needs: ['deleteJob'] }, async on => {
    const [first, second] = [await submitted(on), await submitted(on)];
    const page = await on.store.list({}, { after: null, limit: 1 });
    await on.deleteJob(keyOf(second));

    const next = await on.store.list({}, { after: page[0]!.position, limit: 10 });

    assert.deepEqual(idsOf(next.map(({ job }) => job)), [first.id]);
  }),

  fact('a list may be of one scope: that which was not named is one, too', async on => {
    const jobs = ['', 'a', 'b'].map(scope => aSubmission({ scope }));
    await on.store.submit(jobs);

    for (const job of jobs) {
      assert.deepEqual(await listed(on, { scope: job.scope }), [job.id]);
    }
    assert.equal((await listed(on, {})).length, 3);
    assert.deepEqual(await listed(on, { scope: 'A' }), []);
  }),

  fact('a list may be of some states', async on => {
    const states = ['awaiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled', 'interrupted'] as const;
    const ids = new Map<string, string>();
    for (const state of states) {
      ids.set(state, (await aJobIn(on, state, { queue: 'listed' })).id);
    }

    for (const state of states) {
      assert.deepEqual(await listed(on, { states: [state], queues: ['listed'] }), [ids.get(state)], state);
    }
    assert.equal((await listed(on, { states, queues: ['listed'] })).length, states.length);
  }),

  fact('a list may be of some queues, some names and some reasons', async on => {
    const plain = await submitted(on);
    const queued = await submitted(on, { queue: 'slow' });
    const named = await submitted(on, { definition: buildReport });
    const lost = await aJobIn(on, 'interrupted');
    await aJobIn(on, 'failed', { queue: 'other' });

    assert.deepEqual(await listed(on, { queues: ['slow'] }), [queued.id]);
    assert.deepEqual(await listed(on, { names: ['report.build'] }), [named.id]);
    assert.deepEqual(await listed(on, { reasons: ['shutdown', 'timeout'] }), [lost.id]);
    assert.deepEqual(
      await listed(on, { queues: ['slow', 'default'], names: ['mail.send'] }),
      idsOf([lost, queued, plain]),
    );
  }),

  fact('a list may be of the jobs of one recurring job', async on => {
    const job = aRecurringJob(null);
    await on.recurring.upsertRecurring(job);
    const made = await on.recurring.runRecurringNow(keyOf(job));
    await submitted(on);

    assert.deepEqual(await listed(on, { recurringId: job.id }), [made!.id]);
    assert.deepEqual(await listed(on, { recurringId: 'other' }), []);
  }),

  fact('a list may be of a time: from its first instant, and before its end', async on => {
    const start = on.clock.date();
    const jobs = [];
    for (let index = 0; index < 3; index++) {
      on.clock.set(microsOf(start) + index * day * 1000);
      jobs.push(await submitted(on));
    }
    const at = (index: number) => new Date(start.getTime() + index * day);

    assert.deepEqual(await listed(on, { createdFrom: at(1) }), idsOf([jobs[2]!, jobs[1]!]));
    assert.deepEqual(await listed(on, { createdBefore: at(1) }), idsOf([jobs[0]!]));
    assert.deepEqual(await listed(on, { createdFrom: at(1), createdBefore: at(2) }), idsOf([jobs[1]!]));
  }),

  fact('a list may be of jobs that ended in a time: from its first instant, and before its end', async on => {
    await submitted(on);
    const jobs = [];
    for (let index = 0; index < 3; index++) {
      on.clock.advance(day);
      jobs.push(await aJobIn(on, index === 1 ? 'failed' : 'succeeded'));
    }
    const at = (index: number) => new Date(on.clock.date().getTime() - (2 - index) * day);

    assert.deepEqual(await listed(on, { finishedFrom: at(1) }), idsOf([jobs[2]!, jobs[1]!]));
    assert.deepEqual(await listed(on, { finishedBefore: at(1) }), idsOf([jobs[0]!]));
    assert.deepEqual(await listed(on, { finishedFrom: at(1), finishedBefore: at(2) }), idsOf([jobs[1]!]));
    assert.deepEqual(await listed(on, { states: ['failed'], finishedFrom: at(0) }), idsOf([jobs[1]!]));
  }),

  fact('all conditions of a filter must hold', async on => {
    const wanted = await submitted(on, { scope: 'a', queue: 'slow' });
    await submitted(on, { scope: 'a' });
    await submitted(on, { scope: 'b', queue: 'slow' });
    await aJobIn(on, 'failed', { scope: 'a', queue: 'slow' });

    assert.deepEqual(await listed(on, { scope: 'a', queues: ['slow'], states: ['queued'] }), [wanted.id]);
  }),

  fact('an empty list of a filter matches nothing', async on => {
    await submitted(on);

    for (const filter of [{ states: [] }, { queues: [] }, { names: [] }, { reasons: [] }]) {
      assert.deepEqual(await listed(on, filter), []);
      assert.deepEqual(await on.store.counts(filter), []);
    }
  }),
]);

async function listed({ store }: FactContext, filter: JobFilter): Promise<string[]> {
  return idsOf((await store.list(filter, { after: null, limit: 100 })).map(({ job }) => job));
}
