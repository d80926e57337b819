import type { EntityManager } from '@mikro-orm/postgresql';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { RunningJob } from '../../src/core/handler.ts';
import { PermanentError } from '../../src/core/handler-errors.ts';
import { forEachDriver, mikroOrmMajor } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { aborted, latch, type Latch } from './support/latch.ts';
import { Note } from './support/note.entity.ts';
import { World } from './support/world.ts';

const long = defineJob<object>()({ name: 'long' });
const hasty = defineJob<object>()({ name: 'hasty', timeout: '50ms' });
/** Time enough for its statement to be seen in the server, also on a loaded machine. */
const unhurried = defineJob<object>()({ name: 'unhurried', timeout: '2s' });

type Job = RunningJob<object, EntityManager>;

forEachDriver(driver => {
  let world: World;
  beforeEach(async () => void (world = await World.open(driver, { file: true })));
  afterEach(() => world.close());

  const write = (em: EntityManager) => em.insert(Note, { id: 'n', text: '' });

  test('work that is at it when its time is up commits nothing, and the job has timed out', async () => {
    const ended = latch();
    let rejection: unknown;
    await world.jobs.submit(hasty.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(hasty, async job => {
        const work = async (em: EntityManager) => {
          await write(em);
          await aborted(job.signal).catch(() => {});
        };
        await job.transactional(work).catch(error => (rejection = [error === job.signal.reason, error.why]));
        ended.open();
      }),
    ]);
    await executor.start();
    await ended.opened;
    await executor.stop();

    expect(rejection).toEqual([true, 'timed_out']);
    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'timeout', resultRef: null });
    expect(await world.notes()).toEqual([]);
    expect(world.log.troubles).toEqual([]);
  });

  test('work that is at it when a stop loses patience may end within the grace, and completes the job', async () => {
    const [began, ended] = [latch(), latch()];
    let why: unknown;
    await world.jobs.submit(long.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(long, async job => {
          await job.transactional(async em => {
            began.open();
            await aborted(job.signal).catch(error => (why = error.why));
            await write(em);
          });
          ended.open();
        }),
      ],
      { drainTimeout: 10, abortGrace: '5m' },
    );
    await executor.start();
    await began.opened;
    await executor.stop();

    expect(why).toBe('stopped');
    expect((await world.job('a')).state).toBe('succeeded');
    expect(await world.notes()).toEqual(['n']);
  });
});

forEachDriver(driver => {
  // MikroORM 6 lets a statement end by itself; those of SQLite can't be interrupted.
  if (driver !== 'postgresql' || mikroOrmMajor === 6) {
    return;
  }

  let world: World;
  beforeEach(async () => void (world = await World.open(driver)));
  afterEach(() => world.close());

  const sleeping = `select count(*)::int as count from pg_stat_activity where query like 'select pg_sleep%' and datname = current_database()
    and state = 'active'`;
  const sleepers = async () => (await world.orm.em.fork().execute<[{ count: number }]>(sleeping))[0].count;
  const insertAndSleep = async (em: EntityManager) => {
    await em.insert(Note, { id: 'n', text: '' });
    // Longer than any test may take: only a cancelled one ends.
    await em.execute('select pg_sleep(3600)');
  };

  /** Runs one job whose work sleeps in the database, and cuts it when it does. */
  async function cutShort(
    run: (job: Job) => Promise<string | void>,
    cut: (executor: { stop(): Promise<void> }) => unknown,
    { definition = long as typeof long | typeof unhurried, options = {}, ended = latch() as Latch } = {},
  ) {
    await world.jobs.submit(definition.create({}, { id: 'a' }));
    const executor = world.executor(
      [world.jobs.handler(definition, job => run(job).finally(() => ended.open()))],
      options,
    );
    await executor.start();
    await until(async () => (await sleepers()) === 1);

    await cut(executor);
    await ended.opened;
    await executor.stop();
    await until(async () => (await sleepers()) === 0);
  }

  test('a cancel reaches the statement that work waits for: it is cancelled, and all is rolled back', async () => {
    let rejection: unknown;
    await cutShort(
      async job => {
        await job.transactional(insertAndSleep).catch(error => {
          rejection = [error === job.signal.reason, error.why];
          throw error;
        });
      },
      () => world.jobs.scope('').cancel('a', { reason: 'withdrawn' }),
    );

    expect(rejection).toEqual([true, 'cancelled']);
    expect(await world.job('a')).toMatchObject({ state: 'cancelled', resultRef: null });
    expect((await world.job('a')).lastError).not.toContain('canceling statement');
    expect(await world.notes()).toEqual([]);
  });

  test('so does a timeout, and the connection can be used afterwards', async () => {
    let afterwards: unknown;
    await cutShort(
      async job => {
        const rejected = await job.transactional(insertAndSleep).catch(error => error.why);
        afterwards = [rejected, await job.em.execute('select 1 as one')];
      },
      () => {},
      { definition: unhurried },
    );

    expect(afterwards).toEqual(['timed_out', [{ one: 1 }]]);
    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'timeout' });
    expect((await world.job('a')).lastError).toContain('its time is up');
    expect(await world.notes()).toEqual([]);
  });

  test('so does a lost lease, whatever the work makes of its error, and nothing is written', async () => {
    await cutShort(
      job => job.transactional(em => insertAndSleep(em).catch(() => 'swallowed')),
      async () => {
        const [held] = await world.jobs.store.running({ limit: 1 });
        await world.jobs.store.recover([held!], { requeue: 'never', reason: 'lease_lapsed' });
      },
      { options: { renewEvery: '10ms', progressInterval: '10ms' } },
    );

    expect(await world.job('a')).toMatchObject({ state: 'interrupted', failureReason: 'lease_lapsed' });
    expect(await world.notes()).toEqual([]);
    expect(world.log.troubles).toEqual(['attempt_lost', 'late_result']);
  });

  test('so does a stop whose grace is over, and its job is recovered', async () => {
    await cutShort(
      job => job.transactional(insertAndSleep),
      executor => executor.stop(),
      { options: { drainTimeout: 10, abortGrace: 10 } },
    );

    expect(await world.job('a')).toMatchObject({ state: 'interrupted', failureReason: 'shutdown' });
    expect(await world.notes()).toEqual([]);
  });

  test('work that swallows the error of its cut statement completes nothing', async () => {
    await cutShort(
      async job => {
        await job.transactional(em => insertAndSleep(em).catch(() => 'swallowed')).catch(() => {});
        throw new PermanentError('of its own');
      },
      () => {},
      { definition: unhurried },
    );

    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'timeout', resultRef: null });
    expect(await world.notes()).toEqual([]);
  });
});
