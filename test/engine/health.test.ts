import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { MemoryJobs } from '../../src/memory/memory-jobs.ts';
import { latch } from '../executor/support/latch.ts';
import { ManualClock } from '../executor/support/manual-clock.ts';
import { World } from '../executor/support/world.ts';
import { dropOrm, forEachDriver } from '../support/orm.ts';

const work = defineJob<object>()({ name: 'work' });
const fine = { status: 'ok', problem: null };

forEachDriver(driver => {
  let world: World;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock();
    world = await World.open(driver, { clock });
  });
  afterEach(() => world.close());

  test('all is well: a plain object with every check, and nothing is behind', async () => {
    const health = await world.jobs.health({ maxLag: '1s' });

    expect(JSON.parse(JSON.stringify(health))).toEqual({
      status: 'ok',
      checks: {
        storage: fine,
        schema: fine,
        executors: { ...fine, active: [] },
        queues: { ...fine, behind: [] },
      },
    });
  });

  test('a queue is late when its first due job has waited longer than it may; what is scheduled or paused is not', async () => {
    await world.jobs.submit([
      work.create({}, { queue: 'late' }),
      work.create({}, { queue: 'paused' }),
      work.create({}, { queue: 'later', delay: '1d' }),
    ]);
    await world.jobs.queues.pause('paused');
    clock.advance(1000);
    expect(await world.jobs.health({ maxLag: '1s' })).toMatchObject({ status: 'ok' });
    clock.advance(1);

    expect(await world.jobs.health({ maxLag: { paused: '1s', later: 0 } })).toMatchObject({ status: 'ok' });
    const health = await world.jobs.health({ maxLag: '1s' });

    expect(health).toMatchObject({ status: 'degraded', checks: { storage: fine, queues: { status: 'degraded' } } });
    expect(new Map(health.checks.queues.behind.map(queue => [queue.queue, queue]))).toEqual(
      new Map([
        ['late', { queue: 'late', due: 1, lagMs: 1001, maxLagMs: 1000, isPaused: false, maxRunning: null }],
        ['paused', { queue: 'paused', due: 1, lagMs: 1001, maxLagMs: 1000, isPaused: true, maxRunning: null }],
      ]),
    );
  });

  test('queues may have limits of their own, and without one a lag is told and not judged', async () => {
    await world.jobs.submit([work.create({}, { queue: 'fast' }), work.create({}, { queue: 'slow' })]);
    clock.advance(5000);

    expect((await world.jobs.health({ maxLag: { slow: '5s' } })).status).toBe('ok');
    expect((await world.jobs.health({ maxLag: { slow: '5s', fast: '1s' } })).status).toBe('degraded');
    expect(await world.jobs.health()).toMatchObject({ status: 'ok', checks: { queues: { behind: [{ lagMs: 5000, maxLagMs: null }, { lagMs: 5000 }] } } }); // prettier-ignore
  });

  test('an executor is told with what is left of its lease, and one whose lease is over degrades', async () => {
    const leaseUntil = clock.now() + 60_000_000;
    await world.jobs.store.register({ id: 'leased', name: 'l', host: 'h', leaseUntil, metadata: {} });
    await world.jobs.store.register({ id: 'unleased', name: 'u', host: 'h', leaseUntil: null, metadata: {} });
    clock.advance(45_000);

    const { status, checks } = await world.jobs.health();
    expect(status).toBe('ok');
    expect(new Map(checks.executors.active.map(({ id, leaseLeftMs }) => [id, leaseLeftMs]))).toEqual(
      new Map([['leased', 15_000], ['unleased', null]]),
    ); // prettier-ignore

    clock.advance(15_001);
    expect(await world.jobs.health()).toMatchObject({
      status: 'degraded',
      checks: { executors: { status: 'degraded', problem: 'the leases of 1 executors are over' } },
    });
    await world.jobs.store.recoverLapsed(10);
    expect(await world.jobs.health()).toMatchObject({ status: 'ok' });
  });

  test.each(['durable_job', 'durable_job_attempt', 'durable_executor', 'durable_job_queue'])(
    'without the table %s it is down, and says that it is the schema',
    async table => {
      await world.orm.em.execute(`drop table ${table}`);

      const { status, checks } = await world.jobs.health();

      expect(status).toBe('down');
      expect(checks.storage).toEqual(fine);
      expect(checks.schema).toEqual({ status: 'down', problem: expect.stringContaining('SchemaMissingError') });
    },
  );

  test('a database that gives no answer is down when the time is up, and not before it is asked again', async () => {
    const [begun, gate] = [latch(), latch()];
    // The lock, or the only connection, is the transaction's.
    const holding = world.orm.em.fork().transactional(async em => {
      await em.execute(driver === 'sqlite' ? 'select 1' : 'lock table durable_job in access exclusive mode');
      begun.open();
      await gate.opened;
    });
    await begun.opened;

    const { status, checks } = await world.jobs.health({ timeout: 50 });
    gate.open();
    await holding;

    expect([status, checks.storage, checks.executors]).toEqual([
      'down',
      { status: 'down', problem: 'Error: The database gave no answer within 50 ms.' },
      { status: 'down', problem: 'not known', active: [] },
    ]);
    expect((await world.jobs.health()).status).toBe('ok');
  });

  if (driver === 'postgresql') {
    test('a database that is gone is down, without an exception', async () => {
      await dropOrm(world.orm);

      const { status, checks } = await world.jobs.health({ timeout: '1m' });
      await world.orm.close(true);

      expect([status, checks.schema.problem]).toEqual(['down', 'not known']);
      expect(checks.storage).toEqual({ status: 'down', problem: expect.any(String) });
    });
  }

  test('only a mistake of the caller is thrown', async () => {
    await expect(world.jobs.health({ maxLag: 'long' as never })).rejects.toMatchObject({ option: 'maxLag' });
    await expect(world.jobs.health({ maxLag: { mail: -1 } })).rejects.toMatchObject({ option: 'maxLag.mail' });
    await expect(world.jobs.health({ timeout: '60d' })).rejects.toMatchObject({ option: 'timeout' });
    await expect(world.jobs.health({ maxlag: 5 } as never)).rejects.toMatchObject({ option: 'maxlag' });
    const inside = world.orm.em.fork().transactional(() => world.jobs.health());
    await expect(inside).rejects.toMatchObject({ code: 'AMBIENT_TRANSACTION' });
  });

  test('a health that was answered leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter(resource => resource === 'Timeout').length;
    await world.jobs.health();
    const before = timers();

    await world.jobs.health({ timeout: '20d' });

    expect(timers()).toBeLessThanOrEqual(before);
  });
});

test('jobs in memory have a health too', async () => {
  const clock = new ManualClock();
  const jobs = new MemoryJobs({ clock });
  await jobs.submit(work.create({}, { queue: 'mail' }));
  clock.advance(2000);

  expect(await jobs.health({ maxLag: { mail: '1s' } })).toMatchObject({
    status: 'degraded',
    checks: { storage: fine, schema: fine, queues: { behind: [{ queue: 'mail', lagMs: 2000 }] } },
  });
});
