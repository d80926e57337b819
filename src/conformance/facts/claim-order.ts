import { assert } from '../assert.ts';
import { idsOf, settled, started, submitted } from '../arrange.ts';
import { aClaim, aSubmission, buildReport, keyOf, rescheduled, sendMail, someSubmissions } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

export const claimOrder = group('The order of claims', [
  fact('the highest priority comes first, whatever was submitted first', async on => {
    const [low, high, middle] = [
      await submitted(on, { priority: -1 }),
      await submitted(on, { priority: 10 }),
      await submitted(on, { priority: 9 }),
    ];

    assert.deepEqual(await claimedOneByOne(on, 3), idsOf([high, middle, low]));
  }),

  fact('of one priority, the longest due comes first', async on => {
    const now = on.clock.date().getTime();
    const [late, first, second] = [
      await submitted(on, { notBefore: new Date(now) }),
      await submitted(on, { notBefore: new Date(now - 2000) }),
      await submitted(on, { notBefore: new Date(now - 1000) }),
    ];

    assert.deepEqual(await claimedOneByOne(on, 3), idsOf([first, second, late]));
  }),

  fact('of one priority and due time, the oldest comes first', async on => {
    const batch = someSubmissions(4);
    await on.store.submit(batch.slice(0, 2));
    await on.store.submit(batch.slice(2));

    assert.deepEqual(await claimedOneByOne(on, 4), idsOf(batch));
  }),

  fact('jobs of one batch are in its order', async on => {
    const batch = someSubmissions(12);
    await on.store.submit(batch);

    assert.deepEqual(await claimedOneByOne(on, 12), idsOf(batch));
  }),

  fact('the answer of a claim is in this order, too', async ({ store, clock }) => {
    const due = (ms: number) => new Date(clock.date().getTime() - ms);
    const [c, a, d, b] = [
      aSubmission({ priority: 1 }),
      aSubmission({ priority: 5, notBefore: due(9) }),
      aSubmission({ priority: 1 }),
      aSubmission({ priority: 5, notBefore: due(8) }),
    ];
    await store.submit([c, a, d, b]);

    assert.deepEqual(idsOf((await store.claim(aClaim())).attempts), idsOf([a, b, c, d]));
  }),

  fact('no queue comes before another: the order is that of all queues together', async on => {
    const [low1, high1, low2, high2] = [
      await submitted(on, { queue: 'a', priority: 0 }),
      await submitted(on, { queue: 'b', priority: 5 }),
      await submitted(on, { queue: 'b', priority: 0 }),
      await submitted(on, { queue: 'a', priority: 5 }),
    ];

    const answer = await on.store.claim(aClaim({ queues: ['a', 'b'], limit: 3 }));

    assert.deepEqual(idsOf(answer.attempts), idsOf([high1, high2, low1]));
    assert.deepEqual(await claimedOneByOne(on, 1), [low2.id]);
  }),

  fact('no definition comes before another', async on => {
    const [first, second, third] = [
      await submitted(on, { definition: buildReport }),
      await submitted(on),
      await submitted(on, { definition: buildReport }),
    ];

    const { attempts } = await on.store.claim(aClaim({ definitions: [sendMail, buildReport], limit: 2 }));

    assert.deepEqual(idsOf(attempts), idsOf([first, second]));
    assert.notEqual(third.id, attempts[0]!.id);
  }),

  fact('of one priority, the longest due comes first over all queues and definitions', async on => {
    const due = (ms: number) => new Date(on.clock.date().getTime() - ms);
    const [third, first, fourth, second] = [
      await submitted(on, { queue: 'a', notBefore: due(2) }),
      await submitted(on, { queue: 'b', notBefore: due(4), definition: buildReport }),
      await submitted(on, { queue: 'a', notBefore: due(1), definition: buildReport }),
      await submitted(on, { queue: 'b', notBefore: due(3) }),
    ];

    assert.deepEqual(await claimedTwoByTwo(on), idsOf([first, second, third, fourth]));
  }),

  fact('of one priority and due time, the oldest comes first over all queues and definitions', async on => {
    const notBefore = new Date(on.clock.date().getTime() - 1);
    const jobs = [
      await submitted(on, { queue: 'b', notBefore, definition: buildReport }),
      await submitted(on, { queue: 'a', notBefore }),
      await submitted(on, { queue: 'b', notBefore }),
      await submitted(on, { queue: 'a', notBefore, definition: buildReport }),
    ];

    assert.deepEqual(await claimedTwoByTwo(on), idsOf(jobs));
  }),

  fact('a job that is not due yet holds nothing up, whatever its priority', async on => {
    await submitted(on, { priority: 100, notBefore: new Date(on.clock.date().getTime() + 1) });
    const due = await submitted(on, { priority: 1 });

    assert.deepEqual(idsOf((await on.store.claim(aClaim({ limit: 1 }))).attempts), [due.id]);
  }),

  fact('a job that waited for a retry stands where its due time says, not where it was created', async on => {
    const retried = await started(on);
    await settled(on, rescheduled(retried, on.clock.now() + 2_000_000));
    const between = await submitted(on, { notBefore: new Date(on.clock.date().getTime() + 1000) });
    on.clock.advance(5000);
    const last = await submitted(on);

    assert.deepEqual(await claimedOneByOne(on, 3), idsOf([between, keyOf(retried), last]));
  }),
]);

async function claimedOneByOne({ store }: FactContext, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    ids.push(...idsOf((await store.claim(aClaim({ limit: 1 }))).attempts));
  }

  return ids;
}

async function claimedTwoByTwo({ store }: FactContext): Promise<string[]> {
  const request = aClaim({ definitions: [sendMail, buildReport], limit: 2 });
  const first = await store.claim(request);

  return idsOf([...first.attempts, ...(await store.claim(request)).attempts]);
}
