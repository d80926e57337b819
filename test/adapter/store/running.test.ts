import { expect, test } from '@jest/globals';
import { jobStates } from '../../../src/core/states.ts';
import { anExecutor, useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aDueJob, aJobIn, refOf, someRunningJobs } from './given.ts';

forEachDriver(driver => {
  const on = useJobs(driver);

  test('what runs is listed with all that recovery needs, from every scope', async () => {
    await aDueJob(on, { scope: 'acme', id: 'a', onInterrupt: 'requeue' });
    await aDueJob(on, { scope: 'other', id: 'a' });
    const first = await on.store.tryStart({ scope: 'acme', id: 'a' }, 'executor-1');
    const second = await on.store.tryStart({ scope: 'other', id: 'a' }, 'executor-2');

    const running = await on.store.running({ limit: 10 });

    const definition = { name: 'mail.send', version: '1', queue: 'default' };
    expect(running).toHaveLength(2);
    expect(running).toEqual(
      expect.arrayContaining([
        { ...refOf(first!), ...definition, executorId: 'executor-1', onInterrupt: 'requeue' },
        { ...refOf(second!), ...definition, executorId: 'executor-2', onInterrupt: 'hold' },
      ]),
    );
  });

  test('only running jobs are listed', async () => {
    for (const state of jobStates) await aJobIn(on, state, { id: state });

    expect((await on.store.running({ limit: 10 })).map(({ id }) => id)).toEqual(['running']);
  });

  test('one executor is asked for by its id, and the limit holds', async () => {
    await someRunningJobs(on, 5);
    const other = await on.store.tryStart(await aDueJob(on), 'executor-2');

    expect(await on.store.running({ executorId: 'executor-1', limit: 10 })).toHaveLength(5);
    expect(await on.store.running({ executorId: 'executor-1', limit: 3 })).toHaveLength(3);
    expect(await on.store.running({ executorId: 'executor-2', limit: 3 })).toMatchObject([refOf(other!)]);
    expect(await on.store.running({ executorId: 'executor-3', limit: 3 })).toEqual([]);
  });

  test('what is held without a lease is what an executor without one holds, or nobody who is known', async () => {
    await on.store.register(anExecutor({ id: 'unleased' }));
    await on.store.register(anExecutor({ id: 'stopped' }));
    await on.store.register(anExecutor({ id: 'leased', leaseUntil: 1 }));
    await on.store.register(anExecutor({ id: 'unknown' }));
    for (const id of ['unleased', 'stopped', 'leased', 'unknown']) {
      await on.store.tryStart(await aDueJob(on, { id }), id);
    }
    await on.store.retire('stopped');
    await on.orm.em.fork().execute(`delete from durable_executor where id = 'unknown'`);

    const unleased = await on.store.running({ unleased: true, limit: 10 });

    expect(unleased.map(({ executorId }) => executorId).sort()).toEqual(['stopped', 'unknown', 'unleased']);
    expect(await on.store.running({ unleased: true, executorId: 'leased', limit: 10 })).toEqual([]);
    expect(await on.store.running({ unleased: false, limit: 10 })).toHaveLength(4);
  });

  test('an executor is registered as active, once', async () => {
    const executor = anExecutor({ id: 'mailer', metadata: { queues: ['mail'] } });
    await on.store.register(executor);

    expect(await executors('mailer')).toEqual([
      {
        id: 'mailer',
        name: 'billing',
        host: 'alpha',
        state: 'active',
        lease_until: null,
        started_at: String(on.clock.now()),
        metadata: '{"queues":["mail"]}',
      },
    ]);
    await expect(on.store.register(executor)).rejects.toThrow(/unique|duplicate/i);
  });

  test('an executor that retires is stopped, and what it holds is not touched', async () => {
    const [attempt] = await someRunningJobs(on, 1);

    await on.store.retire('executor-1');

    expect(await executors('executor-1')).toMatchObject([{ id: 'executor-1', state: 'stopped' }]);
    expect(await on.store.status([attempt!])).toEqual(['active']);
  });

  async function executors(id: string) {
    const rows = await on.orm.em.fork().execute('select * from durable_executor where id = ?', [id]);
    return rows.map(row => ({ ...row, started_at: String(row.started_at) }));
  }
});
