import { assert } from '../assert.ts';
import { defineJob } from '../../core/definition.ts';
import type { JobFilter } from '../../core/queries.ts';
import { aJobIn, settled, started, startOf, submitted } from '../arrange.ts';
import { buildReport, failed, rescheduled, someSubmissions } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const day = 86_400_000;

export const counting = group('Counts', [
  fact('jobs are counted by queue, definition, version and state', async on => {
    await on.store.submit([
      ...someSubmissions(2),
      ...someSubmissions(3, { queue: 'slow' }),
      ...someSubmissions(1, { definition: buildReport }),
      ...someSubmissions(4, { definition: defineJob<unknown>()({ name: 'mail.send', version: '2' }) }),
    ]);
    await aJobIn(on, 'failed');

    assert.deepEqual(await counted(on, {}), [
      { queue: 'default', name: 'mail.send', version: '1', state: 'failed', count: 1 },
      { queue: 'default', name: 'mail.send', version: '1', state: 'queued', count: 2 },
      { queue: 'default', name: 'mail.send', version: '2', state: 'queued', count: 4 },
      { queue: 'default', name: 'report.build', version: '2', state: 'queued', count: 1 },
      { queue: 'slow', name: 'mail.send', version: '1', state: 'queued', count: 3 },
    ]);
  }),

  fact('counts take the filter of a list', async on => {
    await on.store.submit([...someSubmissions(2, { scope: 'a' }), ...someSubmissions(3, { scope: 'b' })]);
    await aJobIn(on, 'failed', { scope: 'a' });
    const base = { queue: 'default', name: 'mail.send', version: '1' };

    assert.deepEqual(await counted(on, { scope: 'a', states: ['queued'] }), [{ ...base, state: 'queued', count: 2 }]);
    assert.deepEqual(await counted(on, { createdFrom: new Date(on.clock.date().getTime() + day) }), []);
  }),

  fact('jobs are counted by the reason why they ended', async on => {
    await aJobIn(on, 'failed', { scope: 'a' });
    await aJobIn(on, 'failed');
    await aJobIn(on, 'cancelled');
    await aJobIn(on, 'succeeded');
    await settled(on, failed(await started(on), { failureReason: 'timeout' }));
    const counts = async (filter: JobFilter) =>
      Object.fromEntries((await on.store.countsByReason(filter)).map(({ reason, count }) => [reason, count]));

    assert.deepEqual(await counts({}), { permanent_error: 2, timeout: 1, cancel_requested: 1 });
    assert.deepEqual(await counts({ scope: 'a', states: ['failed'] }), { permanent_error: 1 });
    assert.deepEqual(await counts({ states: ['queued'] }), {});
  }),

  fact('the backlog is what is due in each queue, and since when the first of it', async on => {
    const ago = (ms: number) => new Date(on.clock.date().getTime() - ms);
    await submitted(on, { queue: 'slow', notBefore: ago(9000) });
    await submitted(on, { queue: 'slow', notBefore: ago(5000) });
    await submitted(on, { queue: 'slow', notBefore: ago(-1) });
    await submitted(on, { queue: 'later', notBefore: ago(-1) });
    await submitted(on, { queue: 'now' });
    await aJobIn(on, 'awaiting', { queue: 'later', notBefore: ago(9000) });
    await startOf(on, await submitted(on, { queue: 'later' }));

    const backlog = (await on.store.backlog()).filter(({ queue }) => queue !== 'default');

    assert.deepEqual(
      backlog.sort((a, b) => (a.queue < b.queue ? -1 : 1)),
      [
        { queue: 'now', due: 1, lag: 0 },
        { queue: 'slow', due: 2, lag: 9_000_000 },
      ],
    );
  }),

  fact('a job that waits for its retry is no backlog before its time', async on => {
    await settled(on, rescheduled(await started(on), on.clock.now() + 1_000_000));
    assert.deepEqual(await on.store.backlog(), []);

    on.clock.advance(3000);
    assert.deepEqual(await on.store.backlog(), [{ queue: 'default', due: 1, lag: 2_000_000 }]);
  }),
]);

/** In an order for comparing; the contract promises none. */
async function counted({ store }: FactContext, filter: JobFilter) {
  return [...(await store.counts(filter))].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
