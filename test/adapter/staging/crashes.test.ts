import { expect, test } from '@jest/globals';
import { spawnNode } from '../../support/child.ts';
import { dbNameOf, forEachDriver, postgresUrl } from '../../support/orm.ts';
import { jobIds, orderIds, useHost } from './host.ts';

const everything = { jobs: ['job-1', 'job-2'], orders: ['order-1'] };
const nothing = { jobs: [], orders: [] };

forEachDriver(driver => {
  const host = useHost(driver, { file: true });
  const stored = async () => ({ jobs: await jobIds(host), orders: await orderIds(host) });
  const place = (stopAt?: string) =>
    spawnNode('test/adapter/staging/program.ts', [driver, dbNameOf(host.orm), 'place'], {
      TEST_PG_URL: driver === 'postgresql' ? postgresUrl() : undefined,
      STOP_AT: stopAt,
    });

  test.each([
    { killed: 'before stage()', step: 'stage', left: nothing },
    { killed: 'after stage(), before the business row', step: 'order', left: nothing },
    { killed: 'after the commit', step: 'end', left: everything },
  ])('of a process that is killed $killed, order and jobs are there together or not at all', async ({ step, left }) => {
    const child = place(step);
    await child.line(`reached ${step}`);

    expect(await child.kill()).toMatchObject({ signal: 'SIGKILL' });

    expect(await stored()).toEqual(left);
  });

  test('so it is after both, before the commit; and the process that comes back writes everything, once', async () => {
    const child = place('commit');
    await child.line('reached commit');
    await child.kill();
    expect(await stored()).toEqual(nothing);

    expect(await place().exited).toEqual({ code: 0, signal: null });

    expect(await stored()).toEqual(everything);
  });
});
