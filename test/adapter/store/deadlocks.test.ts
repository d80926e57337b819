import { expect, test } from '@jest/globals';
import type { AttemptRef } from '../../../src/core/attempt.ts';
import { createJobs, openJobs } from '../../support/builders.ts';
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

    if (driver === 'postgresql') expect(await deadlocks()).toBe(0);
    await dropOrm(on.orm);

    /** As the server counted them; connections report when they end. */
    async function deadlocks(): Promise<number> {
      for (const { orm } of others) await closeOrm(orm);
      const counter = await openJobs(on);
      await closeOrm(on.orm);
      const [row] = await counter.orm.em.execute(
        'select deadlocks from pg_stat_database where datname = current_database()',
      );
      return Number(row!.deadlocks);
    }
  });
});
