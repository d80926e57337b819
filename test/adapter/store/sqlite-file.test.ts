import { beforeAll, describe, expect, test } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { jobEntities } from '../../../src/entities/index.ts';
import { createJobs, someSubmissions, type TestJobs } from '../../support/builders.ts';
import { spawnNode } from '../../support/child.ts';
import { dbNameOf, drivers, dropOrm, type TestOrm } from '../../support/orm.ts';
import { useSeveralJobs } from './contention.ts';
import { aDueJob, aRunningJob, countJobs, dueJobs, keyOf, outcomes, rescheduled, stored, succeeded } from './given.ts';

const hostsTimeout = 8_000;

describe.each(drivers.filter(driver => driver === 'sqlite'))('on a %s file', driver => {
  const [on, other] = useSeveralJobs(driver, 2) as [TestJobs, TestJobs];
  beforeAll(() => setBusyTimeout(on.orm, hostsTimeout));

  const writes: Array<[call: string, write: (on: TestJobs) => Promise<() => Promise<unknown>>]> = [
    [
      'submit',
      async ({ store }) =>
        () =>
          store.submit(someSubmissions(1)),
    ],
    [
      'submit of several',
      async ({ store }) =>
        () =>
          store.submit(someSubmissions(2)),
    ],
    [
      'claim',
      async on => {
        await aDueJob(on);
        return () =>
          on.store.claim({
            executorId: 'e',
            definitions: [{ name: 'mail.send', version: '1' }],
            queues: null,
            limit: 5,
          });
      },
    ],
    [
      'tryStart',
      async on => {
        const key = await aDueJob(on);
        return () => on.store.tryStart(key, 'executor-1');
      },
    ],
    [
      'progress',
      async on => {
        const attempt = await aRunningJob(on);
        return () => on.store.progress([{ ...attempt, value: 50, message: null }]);
      },
    ],
    [
      'settle',
      async on => {
        const attempt = await aRunningJob(on);
        return () => on.store.settle([succeeded(attempt)]);
      },
    ],
    [
      'release',
      async on => {
        const attempt = await aRunningJob(on);
        return () => on.store.release([attempt]);
      },
    ],
    [
      'recover',
      async on => {
        const attempt = await aRunningJob(on);
        return () => on.store.recover([attempt], { requeue: 'always', reason: 'shutdown' });
      },
    ],
    [
      'cancel',
      async on => {
        const key = await aDueJob(on);
        return () => on.store.cancel(key, {});
      },
    ],
    [
      'retry',
      async on => {
        const attempt = await aRunningJob(on);
        await on.store.settle([outcomes.failed(attempt)]);
        return () => on.store.retry(keyOf(attempt), {});
      },
    ],
    [
      'runNow',
      async on => {
        const key = await aDueJob(on);
        return () => on.store.runNow(key);
      },
    ],
  ];

  test.each(writes)('%s waits for another process without stopping this one', async (_, prepare) => {
    const write = await prepare(on);
    const holder = other.orm.em.fork();
    await holder.begin();
    await holder.execute(`update durable_job set revision = revision + 1`);
    let isDone = false;

    const writing = write().finally(() => (isDone = true));
    const startedAt = performance.now();
    for (let turn = 0; turn < 200; turn++) await nextTurn();
    const turnsTookMs = performance.now() - startedAt;
    const wasDoneBefore = isDone;
    await holder.commit();
    await writing;

    expect(wasDoneBefore).toBe(false);
    expect(turnsTookMs).toBeLessThan(hostsTimeout / 2);
  });

  test.each(writes)('%s leaves the host its own busy_timeout', async (_, prepare) => {
    const write = await prepare(on);

    await write();

    expect(await busyTimeout(on.orm)).toBe(hostsTimeout);
  });

  test('in rollback-journal mode a commit waits for a reader without stopping this process', async () => {
    const journaled = await createJobs(driver, { file: true });
    const reading = await openWithoutWal(journaled.orm);
    // Who waited for the reader as long as the host would, in the commit, would outlast this test.
    await setBusyTimeout(journaled.orm, 70_000);
    const attempt = await aRunningJob(journaled);
    const reader = reading.em.fork();
    await reader.begin();
    await reader.execute('select count(*) from durable_job');
    let isDone = false;

    const settling = journaled.store.settle([succeeded(attempt)]).finally(() => (isDone = true));
    for (let tick = 0; tick < 5; tick++) await new Promise(resolve => setTimeout(resolve, 1));
    const wasDoneBefore = isDone;
    await reader.commit();

    expect(await settling).toEqual([{ answer: 'settled', state: 'succeeded' }]);
    expect(wasDoneBefore).toBe(false);
    expect(await busyTimeout(journaled.orm)).toBe(70_000);
    expect((await stored(journaled, attempt)).job!.state).toBe('succeeded');
    await reading.close(true);
    await dropOrm(journaled.orm);
  });

  test('a write that is refused leaves the host its own busy_timeout, and nothing written', async () => {
    const attempt = await aRunningJob(on, { maxAttempts: 1 });
    const before = await stored(on, attempt);

    await expect(on.store.settle([rescheduled(attempt)])).rejects.toThrow(/check/i);

    expect(await busyTimeout(on.orm)).toBe(hostsTimeout);
    expect(await stored(on, attempt)).toEqual(before);
  });

  test('reads go on while another process writes', async () => {
    const attempt = await aRunningJob(on);
    const holder = other.orm.em.fork();
    await holder.begin();
    await holder.execute(`update durable_job set cancel_requested_at = 1`);

    expect(await on.store.status([attempt])).toEqual(['active']);
    expect(await on.store.get(keyOf(attempt))).toMatchObject({ state: 'running', cancelRequestedAt: null });

    await holder.commit();
    expect(await on.store.status([attempt])).toEqual(['cancel_requested']);
  });

  test('several processes share one file: every job is done once, by one of them', async () => {
    await dueJobs(on, someSubmissions(120, { notBefore: new Date('2020-01-01T00:00:00Z') }));

    const children = ['first', 'second'].map(executor =>
      spawnNode('test/adapter/store/contender.ts', [dbNameOf(on.orm), executor]),
    );
    const exits = await Promise.all(children.map(child => child.exited));

    expect(exits.map(({ code }) => code)).toEqual([0, 0]);
    const counts = children.map(child => Number(/settled (\d+)/.exec(child.stdout())![1]));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(120);
    expect(await countJobs(on, 'succeeded')).toBe(120);
    const [wrong] = await on.orm.em.execute(
      `select count(*) as count from durable_job where attempt_count <> 1 or progress <> 50 or progress_message <> result_ref`,
    );
    expect(Number(wrong!.count)).toBe(0);
  });

  /** As the only connection, the first one takes the file out of WAL mode, in which the test's ORMs open it. */
  async function openWithoutWal(orm: TestOrm): Promise<TestOrm> {
    await orm.em.execute('pragma journal_mode = delete');
    const { MikroORM } = await import('@mikro-orm/sqlite');

    return (await MikroORM.init({ entities: jobEntities, dbName: dbNameOf(orm) })) as unknown as TestOrm;
  }

  async function setBusyTimeout(orm: TestOrm, ms: number): Promise<void> {
    await orm.em.execute(`pragma busy_timeout = ${ms}`);
  }

  async function busyTimeout(orm: TestOrm): Promise<number> {
    const [row] = await orm.em.execute('pragma busy_timeout');
    return Number(Object.values(row!)[0]);
  }
});
