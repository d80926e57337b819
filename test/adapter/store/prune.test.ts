import { afterEach, expect, test } from '@jest/globals';
import type { JobKey } from '../../../src/core/job-key.ts';
import { scopeHash } from '../../../src/core/scope.ts';
import { aSubmission, openJobs, useJobs } from '../../support/builders.ts';
import { closeOrm, forEachDriver } from '../../support/orm.ts';
import { aDueJob, aJobIn, ended, keyOf, setColumns, start, succeeded } from './given.ts';

const keepsNothing = { succeeded: 9e15, failed: 9e15, cancelled: 9e15, interrupted: 9e15 } as const;
const everything = { finishedBefore: keepsNothing, executorsBefore: 0, limit: 1000 };

forEachDriver(driver => {
  const on = useJobs(driver);
  const undo: string[] = [];
  afterEach(async () => {
    for (const statement of undo.splice(0)) await on.orm.em.fork().execute(statement);
  });

  test('nothing of a deleted job is left in any table, and nothing of another one is gone', async () => {
    const [parent, other] = [await aDueJob(on), await aDueJob(on)];
    const child = aSubmission({ after: [parent, other] });
    const bystander = aSubmission({ after: [other] });
    await on.store.submit([child, bystander]);
    await on.store.settle([succeeded(await start(on, parent))]);
    const first = await start(on, other);
    await on.store.settle([ended(first, 'failed')]);
    expect(await counts()).toEqual({ jobs: 4, attempts: 2, dependencies: 3 });

    expect(await on.store.purge([parent], ['succeeded'])).toBe(1);
    // The child of what succeeded has one parent less to look at.
    expect(await counts()).toEqual({ jobs: 3, attempts: 1, dependencies: 2 });
    expect(await on.store.purge([keyOf(child)], ['cancelled'])).toBe(1);
    expect(await counts()).toEqual({ jobs: 2, attempts: 1, dependencies: 1 });

    expect(await on.store.prune(everything)).toMatchObject({ jobs: 2 });
    expect(await counts()).toEqual({ jobs: 0, attempts: 0, dependencies: 0 });
  });

  test('a family that ended is deleted together', async () => {
    const parent = await aDueJob(on);
    const child = aSubmission({ after: [parent] });
    await on.store.submit([child]);
    await on.store.settle([succeeded(await start(on, parent))]);
    await on.store.settle([succeeded(await start(on, keyOf(child)))]);

    expect(await on.store.prune(everything)).toMatchObject({ jobs: 2 });

    expect(await counts()).toEqual({ jobs: 0, attempts: 0, dependencies: 0 });
  });

  test('a child that is committed while its parent is deleted is looked at at once', async () => {
    const parent = await aJobIn(on, 'interrupted');
    const child = aSubmission({ after: [parent] });
    await on.store.submit([child]);
    await setColumns(on.orm, child, { state: 'running', attempt_token: 't', executor_id: 'e' });
    await appearsWithTheDeletion(child);

    expect(await on.store.purge([parent], ['interrupted'])).toBe(1);

    expect(await on.store.get(keyOf(child))).toMatchObject({
      state: 'cancelled',
      failureReason: 'cancelled_by_parent',
    });
  });

  if (driver === 'postgresql') {
    test('a job that somebody holds is left alone, and nobody is waited for', async () => {
      const [held, free] = [await aJobIn(on, 'failed'), await aJobIn(on, 'failed')];
      const other = await openJobs(on);
      const transaction = other.orm.em.fork();
      await transaction.begin();
      const lock = 'select 1 from durable_job where scope_hash = ? and id = ? for update';
      await transaction.execute(lock, [scopeHash(held.scope), held.id]);

      expect(await on.store.prune(everything)).toMatchObject({ jobs: 1 });
      expect(await on.store.purge([held], ['failed'])).toBe(0);

      await transaction.rollback();
      await closeOrm(other.orm);
      expect(await areThere([held, free])).toEqual([true, false]);
      expect(await on.store.prune(everything)).toMatchObject({ jobs: 1 });
    });

    test('a job that is retried while the deletion waits to read it is judged as it is then', async () => {
      const key = await aJobIn(on, 'failed');
      const other = await openJobs(on);
      const transaction = other.orm.em.fork();
      await transaction.begin();
      await transaction.execute(`update durable_job set state = 'queued', finished_at = null`);

      const pruning = on.store.prune(everything);
      await transaction.commit();

      expect((await pruning).jobs).toBe(0);
      await closeOrm(other.orm);
      expect(await areThere([key])).toEqual([true]);
    });
  }

  async function counts() {
    const count = async (table: string) => {
      const [row] = await on.orm.em.fork().execute(`select count(*) as count from ${table}`);
      return Number(row!.count);
    };

    return {
      jobs: await count('durable_job'),
      attempts: await count('durable_job_attempt'),
      dependencies: await count('durable_job_dependency'),
    };
  }

  /** What the deletion doesn't see, and what comes after it does, as with a transaction that commits between. */
  async function appearsWithTheDeletion({ id }: JobKey): Promise<void> {
    const em = on.orm.em.fork();
    const appear = `update durable_job set state = 'awaiting', attempt_token = null, executor_id = null where id = '${id}'`;

    if (driver === 'sqlite') {
      await em.execute(`create trigger appear after delete on durable_job begin ${appear}; end`);
      undo.push('drop trigger appear');
    } else {
      await em.execute(
        `create function appear() returns trigger language plpgsql as $$ begin ${appear}; return null; end $$`,
      );
      await em.execute('create trigger appear after delete on durable_job for each row execute function appear()');
      undo.push('drop trigger appear on durable_job', 'drop function appear');
    }
  }

  function areThere(keys: readonly JobKey[]): Promise<boolean[]> {
    return Promise.all(keys.map(async key => (await on.store.get(key)) !== null));
  }
});
