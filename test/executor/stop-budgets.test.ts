import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { defineJob } from '../../src/core/definition.ts';
import { dbNameOf, forEachDriver, postgresUrl } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { timers } from '../support/timers.ts';
import { aborted, latch, turns } from './support/latch.ts';
import { ManualClock } from './support/manual-clock.ts';
import { Note } from './support/note.entity.ts';
import { World } from './support/world.ts';

const held = defineJob<object>()({ name: 'held' });
const repeatable = defineJob<object>()({ name: 'repeatable', onInterrupt: 'requeue' });
const shortest = { drainTimeout: 10, abortGrace: 10 };

forEachDriver(driver => {
  let world: World;
  beforeEach(async () => void (world = await World.open(driver, { file: true })));
  afterEach(() => world.close());

  test('the signal fires when the drain is over, and the stop ends when the grace is over too, not before', async () => {
    const began = latch();
    let firedAt = 0;
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(held, async ({ signal }) => {
          began.open();
          await once(signal, 'abort');
          firedAt = performance.now();
          await new Promise(() => {});
        }),
      ],
      { drainTimeout: 150, abortGrace: 150 },
    );
    await executor.start();
    await began.opened;

    const stoppedAt = performance.now();
    await executor.stop();
    const endedAt = performance.now();

    // A timer may be early by its rounding; how late it may be is the machine's matter.
    expect(firedAt - stoppedAt).toBeGreaterThan(148);
    expect(endedAt - firedAt).toBeGreaterThan(148);
    expect(await world.job('a')).toMatchObject({ state: 'interrupted', failureReason: 'shutdown' });
  });

  test('a stop ends with its last handler: neither the drain nor the grace is waited out', async () => {
    const began = latch();
    await world.jobs.submit([held.create({}, { id: 'returns' }), held.create({}, { id: 'throws' })]);
    let beginnings = 0;
    const executor = world.executor(
      [
        world.jobs.handler(held, async ({ id, signal }) => {
          if (++beginnings === 2) began.open();
          await (id === 'returns' ? once(signal, 'abort') : aborted(signal));
        }),
      ],
      { drainTimeout: 10, abortGrace: '5m' },
    );
    await executor.start();
    await began.opened;

    await executor.stop();

    expect((await world.job('returns')).state).toBe('succeeded');
    expect((await world.job('throws')).state).toBe('interrupted');
  });

  test('a handler that never gives the thread back holds the stop up, and has succeeded when it returns', async () => {
    const [began, gate] = [latch(), latch()];
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(held, async () => {
          began.open();
          await gate.opened;
          for (const end = performance.now() + 150; performance.now() < end;);
          return 'counted';
        }),
      ],
      shortest,
    );
    await executor.start();
    await began.opened;

    const stopped = executor.stop();
    gate.open();
    await stopped;

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', resultRef: 'counted' });
    expect(world.log.troubles).toEqual([]);
  });

  test('a transaction that heeds the signal is rolled back, and its job interrupted', async () => {
    const began = latch();
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(held, async job => {
          await job.transactional(async em => {
            await em.persist(em.create(Note, { id: 'n', text: 'x' })).flush();
            began.open();
            await aborted(job.signal);
          });
        }),
      ],
      { drainTimeout: 10, abortGrace: '5m' },
    );
    await executor.start();
    await began.opened;

    await executor.stop();

    expect(await world.job('a')).toMatchObject({ state: 'interrupted', failureReason: 'shutdown' });
    expect(await world.notes()).toEqual([]);
  });

  test('a transaction that ends in the grace is committed with its job', async () => {
    const began = latch();
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(held, async job => {
          await job.transactional(async em => {
            await em.persist(em.create(Note, { id: 'n', text: 'x' })).flush();
            began.open();
            await once(job.signal, 'abort');
          });
        }),
      ],
      { drainTimeout: 10, abortGrace: '5m' },
    );
    await executor.start();
    await began.opened;

    await executor.stop();

    expect((await world.job('a')).state).toBe('succeeded');
    expect(await world.notes()).toEqual(['n']);
  });

  test('a transaction that ignores the stop does not hold it up: what it wrote and its job end alike', async () => {
    const [began, gate, ended] = [latch(), latch(), latch()];
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(held, async job => {
          await job
            .transactional(async em => {
              await em.persist(em.create(Note, { id: 'n', text: 'x' })).flush();
              began.open();
              await gate.opened;
            })
            .catch(() => {});
          ended.open();
        }),
      ],
      shortest,
    );
    await executor.start();
    await began.opened;

    await executor.stop();
    // SQLite's only connection is the transaction's: nothing could be written beside it.
    expect(world.log.of('stop_incomplete')).toHaveLength(driver === 'sqlite' ? 1 : 0);
    gate.open();
    await ended.opened;
    await until(async () => (await world.job('a')).state !== 'running');

    const isDone = (await world.job('a')).state === 'succeeded';
    expect(await world.notes()).toEqual(isDone ? ['n'] : []);
    if (driver === 'postgresql') expect(isDone).toBe(false);
  });

  test('work under a key that ignores the stop stores nothing when it ends, and is done again by the next start', async () => {
    const [began, gate, ended] = [latch(), latch(), latch()];
    const done: string[] = [];
    await world.jobs.submit(repeatable.create({}, { id: 'a' }));
    const handler = world.jobs.handler(repeatable, async job => {
      const work = async () => {
        began.open();
        if (job.attempt === 1) await gate.opened;
        done.push(`attempt ${job.attempt}`);
        return `attempt ${job.attempt}`;
      };
      return job.once('key', { ttl: '1d' }, work).finally(() => job.attempt === 1 && ended.open());
    });
    const executor = world.executor([handler], shortest);
    await executor.start();
    await began.opened;

    await executor.stop();
    expect((await world.job('a')).state).toBe('queued');
    gate.open();
    await ended.opened;
    const next = world.executor([handler]);
    await next.start();
    await until(async () => (await world.job('a')).state === 'succeeded');

    expect(done).toEqual(['attempt 1', 'attempt 2']);
    expect(await world.job('a')).toMatchObject({ resultRef: 'attempt 2', attemptCount: 2 });
  });

  test('work under a key that heeds the stop leaves the key free for the next start', async () => {
    const began = latch();
    await world.jobs.submit(repeatable.create({}, { id: 'a' }));
    const handler = world.jobs.handler(repeatable, job => {
      return job.once('key', { ttl: '1d' }, async () => {
        began.open();
        return job.attempt === 1 ? aborted(job.signal) : 'done';
      });
    });
    const executor = world.executor([handler], { drainTimeout: 10, abortGrace: '5m' });
    await executor.start();
    await began.opened;

    await executor.stop();
    const next = world.executor([handler]);
    await next.start();
    await until(async () => (await world.job('a')).state === 'succeeded');

    expect(await world.job('a')).toMatchObject({ resultRef: 'done', attemptCount: 2, failureCount: 0 });
  });

  test('a progress that is on its way is waited for before the job is given up, and comes before its end', async () => {
    const [reported, answer] = [latch(), latch()];
    await world.jobs.submit(held.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(held, async job => {
          job.progress(30, 'on its way');
          await aborted(job.signal);
        }),
      ],
      { drainTimeout: 10, abortGrace: '5m', progressInterval: 10, renewEvery: 10 },
      {
        progress: async call => {
          reported.open();
          await answer.opened;
          return call();
        },
      },
    );
    await executor.start();
    await reported.opened;

    let isStopped = false;
    const stopped = executor.stop().then(() => (isStopped = true));
    await turns(500);
    expect(isStopped).toBe(false);
    answer.open();
    await stopped;

    expect(await world.job('a')).toMatchObject({ state: 'interrupted', progress: 30, progressMessage: 'on its way' });
    expect(world.log.troubles).toEqual([]);
  });

  test.each(['progress', 'settle', 'recover', 'retire'] as const)(
    'a database that never answers %s holds no stop up for ever',
    async call => {
      const [began, answer] = [latch(), latch()];
      const timersBefore = timers();
      await world.jobs.submit(held.create({}, { id: 'a' }));
      const executor = world.executor(
        [
          world.jobs.handler(held, async job => {
            job.progress(30);
            began.open();
            if (call !== 'settle') await aborted(job.signal);
          }),
        ],
        { ...shortest, lease: '1m' },
        { [call]: (send: () => Promise<unknown>) => answer.opened.then(send) },
      );
      await executor.start();
      await began.opened;

      await executor.stop();

      expect(world.log.of('stop_incomplete')).toHaveLength(1);
      if (driver === 'sqlite') expect(timers()).toBe(timersBefore); // a pool has timers of its own
      answer.open();
      await until(async () => (await world.job('a')).state !== 'running');
      await world.log.until('executor_stopped');
    },
  );

  if (driver === 'sqlite') {
    test('outcomes that are tried again after a stop that gave up keep no process alive', async () => {
      const [reported, answer] = [latch(), latch()];
      const timersBefore = timers();
      let isBack = false;
      await world.jobs.submit([held.create({}, { id: 'ended' }), held.create({}, { id: 'at-work' })]);
      const executor = world.executor(
        [
          world.jobs.handler(held, async job => {
            if (job.id === 'ended') return;
            await world.log.until('settle_failed');
            job.progress(30);
            await aborted(job.signal);
          }),
        ],
        shortest,
        {
          progress: send => (reported.open(), answer.opened.then(send)),
          settle: send => (isBack ? send() : Promise.reject(new Error('gone'))),
        },
      );
      await executor.start();
      await reported.opened;

      await executor.stop();

      expect(world.log.of('stop_incomplete')).toHaveLength(1);
      expect(timers()).toBe(timersBefore);
      isBack = true;
      answer.open();
      await until(async () => (await world.job('ended')).state === 'succeeded');
      await world.log.until('executor_stopped');
    });
  }

  test('a stop during a start that fails resolves, and another start works', async () => {
    const [asked, answer] = [latch(), latch()];
    let calls = 0;
    const executor = world.executor(
      [world.jobs.handler(held, async () => {})],
      {},
      {
        register: async call => {
          if (calls++ > 0) return call();
          asked.open();
          await answer.opened;
          throw new Error('no database');
        },
      },
    );
    const started = executor.start();
    await asked.opened;

    const stopped = executor.stop();
    answer.open();

    await expect(started).rejects.toThrow('no database');
    await stopped;
    await executor.start();
    await world.jobs.submit(held.create({}, { id: 'a' }));
    await until(async () => (await world.job('a')).state === 'succeeded');
  });
});

forEachDriver(driver => {
  test('while an executor drains, no other starts its job, however long that takes: its lease is renewed to the end', async () => {
    const clock = new ManualClock();
    const world = await World.open(driver, { clock });
    const [began, gate] = [latch(), latch()];
    const starts: string[] = [];
    const options = { lease: '10s', clockSkew: 0, renewEvery: 20, progressInterval: 10, pollInterval: 10, maintenanceInterval: 10, drainTimeout: '5m' } as const; // prettier-ignore
    const handler = (name: string) =>
      world.jobs.handler(repeatable, async () => {
        starts.push(name);
        began.open();
        await gate.opened;
      });
    await world.jobs.submit(repeatable.create({}, { id: 'a' }));
    const first = world.executor([handler('first')], { ...options, name: 'first' });
    await first.start();
    await began.opened;
    const second = world.executor([handler('second')], { ...options, name: 'second' });
    await second.start();

    const stopped = first.stop();
    for (let step = 1; step <= 10; step++) {
      clock.advance(4000);
      await until(async () => (await leaseEnd(world, 'first')) === clock.now() + 10_000_000);
    }
    gate.open();
    await stopped;

    expect(starts).toEqual(['first']);
    expect(await world.job('a')).toMatchObject({ state: 'succeeded', attemptCount: 1 });
    await world.close();
  });
});

forEachDriver(driver => {
  if (driver !== 'postgresql') return;
  let world: World;
  let other: pg.Client;
  beforeEach(async () => {
    world = await World.open(driver);
    other = await connect(dbNameOf(world.orm));
  });
  afterEach(async () => {
    await other.end();
    await world.close();
  });

  test('an outcome that waits for a row somebody holds is written when that is let go, in time or later', async () => {
    for (const isInTime of [true, false]) {
      const id = isInTime ? 'in time' : 'later';
      const jobId = id.replace(' ', '-');
      const [began, gate] = [latch(), latch()];
      await world.jobs.submit(held.create({}, { id: jobId }));
      const executor = world.executor(
        [
          world.jobs.handler(held, async () => {
            began.open();
            await gate.opened;
          }),
        ],
        isInTime ? { drainTimeout: '5m' } : shortest,
      );
      await executor.start();
      await began.opened;
      await other.query('begin');
      await other.query('select 1 from durable_job where id = $1 for update', [jobId]);
      gate.open();
      await untilBlocked(world);

      const stopped = executor.stop();
      if (!isInTime) await stopped;
      expect(world.log.of('stop_incomplete')).toHaveLength(isInTime ? 0 : 1);
      expect((await world.job(jobId)).state).toBe('running');
      await other.query('rollback');
      await stopped;
      await until(async () => (await world.job(jobId)).state === 'succeeded');
    }
  });

  test('a stop without a database ends, and what it could not write is recovered by the next start', async () => {
    const [began, gate, dbName] = [latch(), latch(), dbNameOf(world.orm)];
    const ran: number[] = [];
    await world.jobs.submit([repeatable.create({}, { id: 'ended' }), repeatable.create({}, { id: 'deaf' })]);
    const handler = world.jobs.handler(repeatable, async job => {
      ran.push(job.attempt);
      if (ran.length === 2) began.open();
      if (job.attempt === 1) await (job.id === 'ended' ? gate.opened : new Promise(() => {}));
    });
    const executor = world.executor([handler], { drainTimeout: 50, abortGrace: 50 });
    const server = await connect();
    await executor.start();
    await began.opened;
    await server.query(`alter database ${dbName} with allow_connections false`);
    await Promise.all([
      new Promise(resolve => other.once('error', resolve)),
      server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [dbName]),
    ]);

    gate.open();
    await executor.stop();
    // As its process would end: MikroORM 6's pool goes on asking for a connection, and would write the outcome after all.
    await world.orm.close();

    await server.query(`alter database ${dbName} with allow_connections true`);
    await server.end();
    other = await connect(dbName);
    await world.orm.connect();
    const next = world.executor([handler]);
    await next.start();
    for (const id of ['ended', 'deaf']) {
      await until(async () => (await world.job(id)).state === 'succeeded');
      expect((await world.job(id)).attemptCount).toBe(2);
    }
  });
});

async function leaseEnd({ orm }: World, name: string): Promise<number> {
  const [row] = (await orm.em
    .fork({ disableContextResolution: true })
    .execute(`select lease_until from durable_executor where name = '${name}'`)) as Array<{ lease_until: string }>;

  await delay(1);
  return Number(row?.lease_until);
}

async function connect(dbName?: string): Promise<pg.Client> {
  const url = new URL(postgresUrl());
  if (dbName !== undefined) url.pathname = dbName;
  const client = new pg.Client({ connectionString: url.toString() });
  client.on('error', () => {});
  await client.connect();

  return client;
}

/** Asked outside of the transaction that holds the row: within one, what others wait for is read once. */
async function untilBlocked({ orm }: World): Promise<void> {
  await until(async () => {
    const blocked: unknown[] = await orm.em
      .fork({ disableContextResolution: true })
      .execute(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`,
      );
    return blocked.length > 0;
  });
}
