import { expect, test } from '@jest/globals';
import { spawnNode } from '../../support/child.ts';
import { aSubmission } from '../../support/builders.ts';
import { dbNameOf, dropOrm, forEachDriver, postgresUrl } from '../../support/orm.ts';
import { createHost, openHost } from './host.ts';

const notBefore = new Date('2031-03-09T02:30:00.123Z');

forEachDriver(driver => {
  test('neither the time zone of a process nor that of a database session moves an instant', async () => {
    const first = await createHost(driver, { file: true });
    if (driver === 'postgresql') {
      await first.orm.em.execute(`alter database ${dbNameOf(first.orm)} set timezone = 'Asia/Tokyo'`);
    }
    const host = await openHost(first, { timezone: 'local' } as object);
    const child = spawnNode('test/adapter/staging/program.ts', [driver, dbNameOf(host.orm), 'schedule'], {
      TEST_PG_URL: driver === 'postgresql' ? postgresUrl() : undefined,
      TZ: 'America/St_Johns',
    });

    const there = JSON.parse((await child.line('scheduled ')).replace('scheduled ', ''));
    const here = await host.jobs.submit(aSubmission({ id: 'job-1', payload: { at: notBefore }, notBefore }));

    expect(there.zone).toBe(210); // it is really three and a half hours behind
    expect(there).toMatchObject({ notBefore: notBefore.toJSON(), nextRunAt: notBefore.toJSON() });
    expect(here).toMatchObject({ created: false, matched: 'identity', job: { notBefore, nextRunAt: notBefore } });
    expect(here.job.createdAt.toJSON()).toBe(there.createdAt);
    const [row] = await host.orm.em.execute('select initial_not_before, created_at from durable_job');
    expect(Number(row?.initial_not_before)).toBe(notBefore.getTime() * 1000);
    expect(Math.abs(Number(row?.created_at) / 1000 - Date.now())).toBeLessThan(600_000);
    await dropOrm(first.orm);
  });
});
