import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { AmbientTransactionError, InvalidOptionError, SchemaMissingError } from '../../src/core/errors.ts';
import { createOrm, dropOrm, forEachDriver } from '../support/orm.ts';
import { latch } from './support/latch.ts';
import { entities, World } from './support/world.ts';
import { systemClock } from '../../src/core/clock.ts';
import { until } from '../support/until.ts';

const held = defineJob<object>()({ name: 'held' });
const repeatable = defineJob<object>()({ name: 'repeatable', onInterrupt: 'requeue' });

forEachDriver(driver => {
  let world: World;
  beforeEach(async () => void (world = await World.open(driver)));
  afterEach(() => world.close());

  /** Leaves a job as a process does that was killed while it ran. */
  async function leaveRunning(id: string): Promise<void> {
    await world.jobs.store.tryStart({ scope: '', id }, 'killed');
  }

  async function registerKilled(): Promise<void> {
    await world.jobs.store.register({ id: 'killed', name: 'killed', host: 'h', leaseUntil: null, metadata: {} });
  }

  test('what a killed process left running is recovered before the first claim, by its onInterrupt', async () => {
    const ran: string[] = [];
    const rerun = latch();
    await registerKilled();
    await world.jobs.submit([held.create({}, { id: 'held' }), repeatable.create({}, { id: 'repeatable' })]);
    await leaveRunning('held');
    await leaveRunning('repeatable');
    const calls: string[] = [];
    const executor = world.executor(
      [
        world.jobs.handler(held, async job => void ran.push(job.id)),
        world.jobs.handler(repeatable, async job => {
          ran.push(job.id);
          rerun.open();
        }),
      ],
      {},
      { recover: call => (calls.push('recover'), call()), claim: call => (calls.push('claim'), call()) },
    );

    await executor.start();
    await rerun.opened;
    await executor.stop();

    expect(calls.slice(0, 2)).toEqual(['recover', 'claim']);
    expect(ran).toEqual(['repeatable']);
    expect(await world.job('held')).toMatchObject({ state: 'interrupted', failureReason: 'instance_restart' });
    // Somebody has to decide about this one, and about no other.
    expect(world.log.of('attempt_recovered')).toMatchObject([{ level: 'warn', id: 'held', state: 'interrupted' }]);
    expect(await world.job('repeatable')).toMatchObject({ state: 'succeeded', attemptCount: 2 });
  });

  test('any number of jobs is recovered, in pages, and one that cannot be does not hold up the others', async () => {
    const pages: number[] = [];
    const ids = Array.from({ length: 250 }, (_, i) => `job-${i}`);
    await registerKilled();
    await world.jobs.submit(ids.map(id => held.create({}, { id })));
    await Promise.all(ids.map(leaveRunning));
    await world.orm.em.execute(`delete from durable_job_attempt where job_id not in ('job-0', 'job-125', 'job-249')`);
    const executor = world.executor(
      [world.jobs.handler(repeatable, async () => {})],
      {},
      { recover: (call, attempts) => (pages.push(attempts.length), call()) },
    );

    await executor.start();
    await executor.stop();

    const states = await world.orm.em.execute(
      'select state, cast(count(*) as integer) as jobs from durable_job group by state order by state',
    );
    expect(states).toEqual([
      { state: 'interrupted', jobs: 3 },
      { state: 'running', jobs: 247 },
    ]);
    expect(Math.max(...pages)).toBe(100);
    expect(world.log.of('attempt_missing')).toHaveLength(247);
  });

  test('a second executor of the process leaves the running jobs of the first alone', async () => {
    const [began, gate] = [latch(), latch()];
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const first = world.executor([
      world.jobs.handler(held, async () => {
        began.open();
        await gate.opened;
      }),
    ]);
    const second = world.executor([world.jobs.handler(repeatable, async () => {})]);
    await first.start();
    await began.opened;

    await second.start();
    expect((await world.job('a')).state).toBe('running');
    gate.open();
    await first.stop();

    expect((await world.job('a')).state).toBe('succeeded');
  });

  test('a started executor is registered with what it serves, and logs how many connections it may use', async () => {
    const executor = world.executor([world.jobs.handler(held, async () => {})], {
      name: 'mailer',
      concurrency: 3,
      queues: ['mail', 'mail'],
    });

    await executor.start();

    const [row] = await world.orm.em.execute('select name, state, lease_until, metadata from durable_executor');
    expect(row).toMatchObject({ name: 'mailer', state: 'active', lease_until: null });
    expect(JSON.parse(row!.metadata)).toEqual({
      definitions: [{ name: 'held', version: '1' }],
      queues: ['mail'],
      concurrency: 3,
    });
    expect(world.log.of('executor_started')).toMatchObject([
      { name: 'mailer', connections: driver === 'sqlite' ? null : 5, recovered: 0 },
    ]);
  });

  test('start is refused inside a transaction, before anything is sent', async () => {
    const executor = world.executor([world.jobs.handler(held, async () => {})]);

    await world.orm.em.transactional(async () => {
      await expect(executor.start()).rejects.toBeInstanceOf(AmbientTransactionError);
    });

    expect(world.log.entries).toEqual([]);
    await executor.start();
    expect(world.log.of('executor_started')).toHaveLength(1);
  });

  test('handlers of an executor that was made inside a transaction are not left with its dead EntityManager', async () => {
    const ran = latch<boolean>();
    const handlers = [world.jobs.handler(held, async job => ran.open(world.orm.em.getContext() === job.em))];
    const executor = await world.orm.em.transactional(async () => world.executor(handlers));
    await world.jobs.submit(held.create({}));

    await executor.start();

    expect(await ran.opened).toBe(true);
  });

  test('handlers and their signals keep no async context of who made, started, woke or cancelled', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const [began, ended] = [latch(), latch()];
    const handler = world.jobs.handler(held, async ({ signal }) => {
      seen.push(storage.getStore());
      signal.addEventListener('abort', () => {
        seen.push(storage.getStore());
        ended.open();
      });
      began.open();
      await ended.opened;
    });
    const executor = storage.run('making', () => world.executor([handler], { pollInterval: '5m' }));

    await storage.run('starting', () => executor.start());
    await storage.run('submitting', () => world.jobs.submit(held.create({}, { id: 'a' })));
    await began.opened;
    await storage.run('cancelling', () => world.jobs.scope('').cancel('a'));
    await ended.opened;

    expect(seen).toEqual([undefined, undefined]);
  });

  test('a start that fails leaves nothing running and may be tried again', async () => {
    let fails = true;
    let claims = 0;
    const executor = world.executor(
      [world.jobs.handler(held, async () => {})],
      {},
      {
        running: call => (fails ? Promise.reject(new Error('no database')) : call()),
        claim: call => (claims++, call()),
      },
    );

    await expect(executor.start()).rejects.toThrow('no database');
    await executor.stop();
    expect(claims).toBe(0);
    expect(await world.orm.em.execute('select state from durable_executor')).toEqual([{ state: 'stopped' }]);

    fails = false;
    await executor.start();
    await until(() => claims > 0);
  });

  test('handlers that cannot work together are refused when the executor is made', () => {
    const handler = world.jobs.handler(held, async () => {});

    const refusal = (make: () => unknown) => {
      try {
        make();
      } catch (error) {
        return error instanceof InvalidOptionError ? [error.option, error.rule] : error;
      }
      return 'accepted';
    };
    expect(refusal(() => world.executor([]))).toEqual(['handlers', 'have at least one handler']);
    expect(refusal(() => world.executor([handler, handler]))).toEqual([
      'handlers',
      'have one handler for each name and version',
    ]);
    expect(refusal(() => world.executor([{} as never]))).toEqual(['handlers', 'have only what `jobs.handler()` made']);
  });
});

forEachDriver(driver => {
  test('start is refused where the tables are missing', async () => {
    const orm = await createOrm(driver, entities, { createSchema: false });
    const world = new World(driver, orm, systemClock);
    const executor = world.executor([world.jobs.handler(held, async () => {})]);

    await expect(executor.start()).rejects.toBeInstanceOf(SchemaMissingError);

    await dropOrm(orm);
  });
});

forEachDriver(driver => {
  if (driver === 'postgresql') {
    test('an executor that needs more connections than the pool has says so, once', async () => {
      const world = await World.open(driver, { pool: { min: 0, max: 4 } });
      await world.executor([world.jobs.handler(held, async () => {})], { concurrency: 3 }).start();
      await world.executor([world.jobs.handler(held, async () => {})], { concurrency: 2 }).start();

      expect(world.log.of('pool_too_small')).toMatchObject([{ level: 'warn', connections: 4, needed: 5 }]);
      await world.close();
    });
  }
});
