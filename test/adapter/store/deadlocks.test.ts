import { expect, test } from '@jest/globals';
import type { AttemptRef } from '../../../src/core/attempt.ts';
import { aSubmission, createJobs, openJobs, type TestJobs } from '../../support/builders.ts';
import { closeOrm, dropOrm, forEachDriver } from '../../support/orm.ts';
import { countJobs, keyOf, someRunningJobs, succeeded } from './given.ts';

forEachDriver(driver => {
  test('groups that touch the same jobs in opposite orders never fail, nor do they deadlock', async () => {
    const on = await createJobs(driver, { file: true });
    const others = [await openJobs(on), await openJobs(on)];
    const rounds = driver === 'sqlite' ? 5 : 30;

    for (let round = 0; round < rounds; round++) {
      const attempts = await someRunningJobs(on, 60);
      const reversed = [...attempts].reverse();
      const shuffled = [...attempts].sort((a, b) => (a.token < b.token ? -1 : 1));
      const reports = (of: readonly AttemptRef[]) => of.map(attempt => ({ ...attempt, value: 50, message: 'half' }));

      await Promise.all([
        on.store.settle(attempts.map(attempt => succeeded(attempt))),
        others[0]!.store.progress(reports(reversed)),
        others[1]!.store.recover(shuffled.slice(0, 30), { requeue: 'never', reason: 'lease_lapsed' }),
        others[0]!.store.release(reversed.slice(20, 50)),
        others[1]!.store.progress(reports(shuffled)),
        ...shuffled.slice(0, 5).map(attempt => on.store.cancel(keyOf(attempt), {})),
      ]);

      expect(await countJobs(on, 'running')).toBe(0);
      await on.orm.em
        .fork()
        .execute(`update durable_job set state = 'cancelled', finished_at = 1 where state = 'queued'`);
    }

    await expectNoDeadlock(on, others);
  });

  test('batches with the same new jobs in opposite orders are all stored once, and do not deadlock', async () => {
    const on = await createJobs(driver, { file: true });
    const others = [await openJobs(on), await openJobs(on)];
    const rounds = driver === 'sqlite' ? 5 : 40;

    for (let round = 0; round < rounds; round++) {
      const batch = Array.from({ length: 100 }, (_, index) => aSubmission({ uniqueKey: `${round}/${index}` }));
      const reversed = [...batch].reverse();

      const results = await Promise.all([
        on.store.submit(batch),
        ...others.map(({ store }, index) => store.submit(index === 0 ? reversed : batch)),
      ]);

      expect(results.flat().filter(({ created }) => created)).toHaveLength(batch.length);
    }

    await expectNoDeadlock(on, others);
  });
});

/** As the server counted them; connections report when they end. */
async function expectNoDeadlock(on: TestJobs, others: readonly TestJobs[]): Promise<void> {
  const counter = await openJobs(on);
  for (const { orm } of [on, ...others]) await closeOrm(orm);

  if (on.driver === 'postgresql') {
    const statement = 'select deadlocks from pg_stat_database where datname = current_database()';
    const [row] = await counter.orm.em.execute(statement);
    expect(Number(row!.deadlocks)).toBe(0);
  }

  await dropOrm(counter.orm);
}
