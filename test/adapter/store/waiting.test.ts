import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Attempt } from '../../../src/core/attempt.ts';
import type { JobKey } from '../../../src/core/job-key.ts';
import type { JobStore } from '../../../src/core/store.ts';
import { aClaim, createJobs, openJobs, type TestJobs } from '../../support/builders.ts';
import { dbNameOf, drivers, dropOrm } from '../../support/orm.ts';
import { openTransaction, untilBlocked } from './contention.ts';
import { aDueJob, aJobIn, aRunningJob, ended, keyOf, stored, succeeded } from './given.ts';
import { StatementLog } from './statement-log.ts';

type Call = (store: Pick<JobStore, Asked>, attempt: Attempt) => Promise<unknown>;
type Asked = 'cancel' | 'settle' | 'release' | 'recover' | 'progress' | 'tryStart' | 'retry' | 'runNow';

const cancel: Call = (store, job) => store.cancel(keyOf(job), {});
const succeed: Call = async (store, attempt) => (await store.settle([succeeded(attempt)]))[0];
const fail: Call = async (store, attempt) => (await store.settle([ended(attempt, 'failed')]))[0];
const release: Call = async (store, attempt) => (await store.release([attempt]))[0];
const recover: Call = async (store, attempt) =>
  (await store.recover([attempt], { requeue: 'always', reason: 'lease_lapsed' }))[0];
const report =
  (value: number): Call =>
  async (store, attempt) =>
    (await store.progress([{ ...attempt, value, message: null }]))[0];
const startIt: Call = async (store, job) => (await store.tryStart(keyOf(job), 'executor-2')) !== null;
const retry: Call = (store, job) => store.retry(keyOf(job), {});
const runNow: Call = (store, job) => store.runNow(keyOf(job));

/** The first call is made in a transaction that stays open; the second one waits, and is answered by how that ended. */
const cases: Array<{
  first: [string, Call];
  second: [string, Call];
  of: 'running' | 'queued' | 'failed';
  afterCommit: unknown;
  afterRollback: unknown;
}> = [
  {
    first: ['cancel', cancel],
    second: ['success', succeed],
    of: 'running',
    afterCommit: { answer: 'settled', state: 'cancelled' },
    afterRollback: { answer: 'settled', state: 'succeeded' },
  },
  {
    first: ['cancel', cancel],
    second: ['failure', fail],
    of: 'running',
    afterCommit: { answer: 'settled', state: 'cancelled' },
    afterRollback: { answer: 'settled', state: 'failed' },
  },
  {
    first: ['cancel', cancel],
    second: ['release', release],
    of: 'running',
    afterCommit: 'cancelled',
    afterRollback: 'released',
  },
  {
    first: ['cancel', cancel],
    second: ['recovery', recover],
    of: 'running',
    afterCommit: 'cancelled',
    afterRollback: 'queued',
  },
  {
    first: ['cancel', cancel],
    second: ['progress', report(50)],
    of: 'running',
    afterCommit: { status: 'cancel_requested', written: false },
    afterRollback: { status: 'active', written: true },
  },
  {
    first: ['success', succeed],
    second: ['cancel', cancel],
    of: 'running',
    afterCommit: 'finished',
    afterRollback: 'requested',
  },
  {
    first: ['success', succeed],
    second: ['equal success', succeed],
    of: 'running',
    afterCommit: { answer: 'settled', state: 'succeeded' },
    afterRollback: { answer: 'settled', state: 'succeeded' },
  },
  {
    first: ['success', succeed],
    second: ['failure', fail],
    of: 'running',
    afterCommit: { answer: 'lost' },
    afterRollback: { answer: 'settled', state: 'failed' },
  },
  {
    first: ['success', succeed],
    second: ['recovery', recover],
    of: 'running',
    afterCommit: 'lost',
    afterRollback: 'queued',
  },
  {
    first: ['recovery', recover],
    second: ['success', succeed],
    of: 'running',
    afterCommit: { answer: 'lost' },
    afterRollback: { answer: 'settled', state: 'succeeded' },
  },
  {
    first: ['release', release],
    second: ['success', succeed],
    of: 'running',
    afterCommit: { answer: 'lost' },
    afterRollback: { answer: 'settled', state: 'succeeded' },
  },
  {
    first: ['progress of 80', report(80)],
    second: ['progress of 50', report(50)],
    of: 'running',
    afterCommit: { status: 'active', written: false },
    afterRollback: { status: 'active', written: true },
  },
  { first: ['cancel', cancel], second: ['start', startIt], of: 'queued', afterCommit: false, afterRollback: true },
  { first: ['start', startIt], second: ['start', startIt], of: 'queued', afterCommit: false, afterRollback: true },
  {
    first: ['start', startIt],
    second: ['cancel', cancel],
    of: 'queued',
    afterCommit: 'requested',
    afterRollback: 'cancelled',
  },
  {
    first: ['start', startIt],
    second: ['run now', runNow],
    of: 'queued',
    afterCommit: 'not_queued',
    afterRollback: 'due',
  },
  {
    first: ['retry', retry],
    second: ['retry', retry],
    of: 'failed',
    afterCommit: 'not_finished',
    afterRollback: 'queued',
  },
];

describe.each(drivers.filter(driver => driver === 'postgresql'))('on %s', driver => {
  describe.each(['read committed', 'repeatable read', 'serializable'])('whose default is %s', level => {
    const log = new StatementLog();
    let on: TestJobs;
    beforeAll(async () => {
      const first = await createJobs(driver);
      await first.orm.em.execute(
        `alter database ${dbNameOf(first.orm)} set default_transaction_isolation = '${level}'`,
      );
      on = await openJobs(first, log.options);
    });
    afterAll(() => dropOrm(on.orm));

    test.each(cases.map(one => ({ ...one, held: one.first[0], waits: one.second[0] })))(
      'a $waits that waits behind a $held is judged by how that ended',
      async ({ first, second, of, ...expected }) => {
        for (const end of ['commit', 'rollback'] as const) {
          const attempt = await aJobFor(on, of);
          const transaction = await openTransaction(on);
          await first[1](transaction.store, attempt);

          const waiting = second[1](on.store, attempt);
          await untilBlocked(on.orm);
          await transaction[end]();

          expect(await waiting).toEqual(end === 'commit' ? expected.afterCommit : expected.afterRollback);
        }
      },
    );

    test.each([
      { held: 'cancel', hold: cancel, afterCommit: { state: 'cancelled', progress: 0 } },
      { held: 'progress of 80', hold: report(80), afterCommit: { state: 'succeeded', progress: 80 } },
    ])('in a group of successes that waits behind a $held each job ends as it is by then', async one => {
      for (const end of ['commit', 'rollback'] as const) {
        const group = [await aRunningJob(on), await aRunningJob(on), await aRunningJob(on)];
        const transaction = await openTransaction(on);
        await one.hold(transaction.store, group[1]!);

        const waiting = on.store.settle(group.map(attempt => succeeded(attempt)));
        await untilBlocked(on.orm);
        await transaction[end]();

        const untouched = { state: 'succeeded', progress: 0 };
        const expected = [untouched, end === 'commit' ? one.afterCommit : untouched, untouched];
        expect(await waiting).toEqual(expected.map(({ state }) => ({ answer: 'settled', state })));
        for (const [index, attempt] of group.entries()) {
          const { job, attempts } = await stored(on, keyOf(attempt));
          expect(job).toMatchObject({ ...expected[index], attempt_token: null });
          expect(attempts).toMatchObject([expected[index]]);
        }
      }
    });

    test('a write runs as READ COMMITTED, whatever the default is', async () => {
      const attempt = await aRunningJob(on);

      const statements = await log.of(() => on.store.settle([succeeded(attempt)]));

      const isPinned = statements.some(statement => /isolation level read committed/i.test(statement));
      expect(isPinned).toBe(level !== 'read committed');
    });

    test('a claim passes what another transaction holds, and says that it is due', async () => {
      const held = await aDueJob(on, { queue: 'held' });
      const free = await aDueJob(on, { queue: 'held' });
      const due = Number((await stored(on, held)).job!.next_run_at);
      const transaction = await openTransaction(on);
      await transaction.store.cancel(held, {});

      const first = await on.store.claim(aClaim({ queues: ['held'] }));
      const second = await on.store.claim(aClaim({ queues: ['held'] }));
      await transaction.rollback();
      const third = await on.store.claim(aClaim({ queues: ['held'] }));

      expect(first.attempts).toMatchObject([free]);
      expect(second).toEqual({ attempts: [], nextDueAt: due, isHeldBack: false });
      expect(third.attempts).toMatchObject([held]);
    });

    test('reads wait for nobody', async () => {
      const attempt = await aRunningJob(on);
      const transaction = await openTransaction(on);
      await transaction.store.cancel(keyOf(attempt), {});

      expect(await on.store.status([attempt])).toEqual(['active']);
      expect(await on.store.get(keyOf(attempt))).toMatchObject({ state: 'running', cancelRequestedAt: null });
      expect(await on.store.running({ limit: 1000 })).toContainEqual(expect.objectContaining({ id: attempt.id }));

      await transaction.commit();
      expect(await on.store.status([attempt])).toEqual(['cancel_requested']);
    });
  });
});

/** The attempt of a running job; of any other job its key, with what an attempt would have. */
async function aJobFor(on: TestJobs, state: 'running' | 'queued' | 'failed'): Promise<Attempt> {
  if (state === 'running') return aRunningJob(on);
  const key: JobKey = await aJobIn(on, state);

  return { ...key, attempt: 0, token: '' } as Attempt;
}
