import { expect, test } from '@jest/globals';
import type { Attempt } from '../../../src/core/attempt.ts';
import { aClaim, anExecutor, aSubmission, useJobs, type TestJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aDueJob, aRunningJob, keyOf, outcomes, succeeded } from './given.ts';
import { StatementLog } from './statement-log.ts';

interface Call {
  readonly call: string;
  readonly ask: (on: TestJobs, attempt: Attempt) => Promise<unknown>;
}

/** Every call on a running job, with statements that have no business with its payload. */
const withoutPayload: Call[] = [
  { call: 'get', ask: ({ store }, attempt) => store.get(keyOf(attempt)) },
  { call: 'attempts', ask: ({ store }, attempt) => store.attempts(keyOf(attempt)) },
  { call: 'status', ask: ({ store }, attempt) => store.status([attempt]) },
  { call: 'running', ask: ({ store }) => store.running({ executorId: 'executor-1', unleased: true, limit: 10 }) },
  { call: 'claim that starts nothing', ask: ({ store }) => store.claim(aClaim({ limit: 0 })) },
  { call: 'progress', ask: ({ store }, attempt) => store.progress([{ ...attempt, value: 50, message: 'half' }]) },
  {
    call: 'progress of a stale attempt',
    ask: ({ store }, attempt) => store.progress([{ ...attempt, attempt: 2, value: 1, message: null }]),
  },
  ...Object.entries(outcomes).map(([outcome, settle]) => ({
    call: `settle as ${outcome}`,
    ask: ({ store }: TestJobs, attempt: Attempt) =>
      store.settle([settle(attempt), succeeded({ ...attempt, token: 'stale' })]),
  })),
  { call: 'release', ask: ({ store }, attempt) => store.release([attempt]) },
  {
    call: 'recover',
    ask: ({ store }, attempt) => store.recover([attempt], { requeue: 'declared', reason: 'shutdown' }),
  },
  { call: 'cancel', ask: ({ store }, attempt) => store.cancel(keyOf(attempt), { reason: 'not needed' }) },
  { call: 'retry', ask: ({ store }, attempt) => store.retry(keyOf(attempt), {}) },
  { call: 'runNow', ask: ({ store }, attempt) => store.runNow(keyOf(attempt)) },
  { call: 'register', ask: ({ store }) => store.register(anExecutor()) },
  { call: 'retire', ask: ({ store }) => store.retire('executor-1') },
];

const withPayload: Call[] = [
  { call: 'submit', ask: ({ store }) => store.submit([aSubmission()]) },
  {
    call: 'submit of several',
    ask: ({ store }) => store.submit([aSubmission({ uniqueKey: 'k' }), aSubmission({ uniqueKey: 'k' })]),
  },
  { call: 'claim', ask: async on => (await aDueJob(on), on.store.claim(aClaim())) },
  { call: 'tryStart', ask: async on => on.store.tryStart(await aDueJob(on), 'executor-1') },
];

const databaseClock =
  /\b(now|date|time|datetime|julianday|unixepoch|strftime|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|age)\s*\(|\b(current_date|current_time|current_timestamp|localtime|localtimestamp)\b|'(now|today)'/i;

forEachDriver(driver => {
  const log = new StatementLog();
  const on = useJobs(driver, log.options);

  test.each(withoutPayload)('$call reads and writes no payload', async ({ ask }) => {
    const attempt = await aRunningJob(on, { payload: 'a text of the payload' });

    const statements = await log.of(() => ask(on, attempt));

    expect(statements).not.toHaveLength(0);
    expect(
      statements.filter(statement =>
        /payload(?!_override is not null)|\bj\.\*|select \* from "?`?(public"?\."?)?durable_job/.test(statement),
      ),
    ).toEqual([]);
  });

  test.each([...withoutPayload, ...withPayload])("$call never asks for the database's time", async ({ ask }) => {
    const attempt = await aRunningJob(on);

    const statements = await log.of(() => ask(on, attempt));

    expect(statements).not.toHaveLength(0);
    expect(statements.filter(statement => databaseClock.test(statement))).toEqual([]);
  });

  test.each([...withoutPayload, ...withPayload])(
    '$call takes a transaction for granted nowhere: it begins with a write',
    async ({ ask }) => {
      const attempt = await aRunningJob(on);

      const statements = (await log.of(() => ask(on, attempt))).filter(statement => !/^(pragma|set) /i.test(statement));

      const afterBegin = statements.filter((_, index) => /^begin/i.test(statements[index - 1] ?? ''));
      expect(
        afterBegin.filter(statement => !/^(commit|update|insert|with .*\b(update|insert) )/is.test(statement)),
      ).toEqual([]);
    },
  );

  test('an idle claim is one plain read', async () => {
    await aRunningJob(on);

    const statements = await log.of(() => on.store.claim(aClaim()));

    expect(statements).toHaveLength(1);
    expect(statements[0]).toMatch(/^with recursive/);
    expect(statements[0]).not.toMatch(/for update|update "/i);
  });

  test('the number of statements does not grow with the group', async () => {
    const count = async (size: number) => {
      const attempts: Attempt[] = [];
      for (let index = 0; index < size; index++) attempts.push(await aRunningJob(on));
      const reports = attempts.map(attempt => ({ ...attempt, value: 10, message: null }));
      const half = attempts.slice(size / 2);

      return [
        (await log.of(() => on.store.progress(reports))).length,
        (await log.of(() => on.store.status(attempts))).length,
        (await log.of(() => on.store.settle(half.map(attempt => succeeded(attempt))))).length,
        (await log.of(() => on.store.recover(attempts.slice(0, size / 2), { requeue: 'never', reason: 'shutdown' })))
          .length,
      ];
    };

    expect(await count(20)).toEqual(await count(2));
  });
});
