import pg from 'pg';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { Settlement } from '../../src/core/attempt.ts';
import { dbNameOf, forEachDriver, postgresUrl } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { aborted, latch, turns } from './support/latch.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work' });

forEachDriver(driver => {
  let world: World;
  beforeEach(async () => void (world = await World.open(driver)));
  afterEach(() => world.close());

  test('claims that fail are tried again, less and less often, and logged when that begins and when it ends', async () => {
    const ran = latch();
    const times: number[] = [];
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [world.jobs.handler(work, async () => ran.open())],
      { pollInterval: '5m' },
      {
        claim: call => {
          times.push(performance.now());
          return times.length < 4 ? Promise.reject(new Error('no database')) : call();
        },
      },
    );

    await executor.start();
    await ran.opened;
    await executor.stop();

    expect(world.log.of('claim_failed')).toHaveLength(1);
    expect(world.log.of('claim_recovered')).toHaveLength(1);
    const delays = times.slice(1).map((time, index) => time - times[index]!);
    // A timer may be late, and early by its rounding.
    expect(delays.slice(0, 3).map((ms, index) => ms > [49, 99, 199][index]!)).toEqual([true, true, true]);
  });

  test('a claim whose answer was lost is given back, and its jobs run', async () => {
    const attempts: number[] = [];
    const ran = latch();
    let answersLost = 0;
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          attempts.push(job.attempt);
          ran.open();
        }),
      ],
      { pollInterval: '5m' },
      {
        claim: async call => {
          const answer = await call();
          if (answersLost++ === 0) throw new Error('the connection is gone');
          return answer;
        },
      },
    );

    await executor.start();
    await ran.opened;
    await executor.stop();

    expect(attempts).toEqual([1]);
    expect(await world.job('a')).toMatchObject({ state: 'succeeded', attemptCount: 1 });
  });

  test('a claim whose answer was lost does not take a job from a handler that runs', async () => {
    const [first, second, gate] = [latch(), latch(), latch()];
    const released: string[] = [];
    let claims = 0;
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          (job.id === 'a' ? first : second).open();
          await gate.opened;
        }),
      ],
      { pollInterval: '5m' },
      {
        claim: async call => {
          const answer = await call();
          if (answer.attempts.some(({ id }) => id === 'b') && claims++ === 0) throw new Error('the connection is gone');
          return answer;
        },
        release: (call, attempts) => (released.push(...attempts.map(({ id }) => id)), call()),
      },
    );
    await executor.start();
    await first.opened;
    await world.jobs.submit(work.create({}, { id: 'b' }));
    await second.opened;
    gate.open();
    await executor.stop();

    expect(released).toEqual(['b']);
    expect((await world.job('a')).state).toBe('succeeded');
    expect((await world.job('b')).state).toBe('succeeded');
  });

  test.each([
    ['before the executor has registered anew', false],
    ['when the executor has registered anew', true],
  ])(
    'a claim whose answer was lost undoes nothing that began under a lease that is lost meanwhile, %s',
    async (_, isAnew) => {
      const [began, seen, maintained, mayRetire, registered] = [latch(), latch(), latch(), latch(), latch()];
      let [registrations, claims] = [0, 0];
      if (isAnew) mayRetire.open();
      await world.jobs.submit(work.create({}, { id: 'a' }));
      const executor = world.executor(
        [
          world.jobs.handler(work, async job => {
            began.open();
            await aborted(job.signal);
          }),
        ],
        {
          lease: '10m',
          pollInterval: '20ms',
          progressInterval: '20ms',
          renewEvery: '20ms',
          maintenanceInterval: '10m',
        },
        {
          claim: call => (claims++ === 0 ? call() : Promise.reject(new Error('no database'))),
          running: async call => {
            const held = await call();
            if (held.length > 0) {
              seen.open();
              await world.log.until('late_result');
              if (isAnew) await registered.opened;
              await turns(2);
            }
            return held;
          },
          // By then the first round of maintenance has recovered what it found.
          prune: call => (maintained.open(), call()),
          retire: async call => {
            await mayRetire.opened;
            await call();
          },
          register: async call => {
            await call();
            if (++registrations === 2) registered.open();
          },
        },
      );
      await executor.start();
      await began.opened;
      await seen.opened;
      await maintained.opened;
      await world.orm.em.fork().execute(`update durable_executor set state = 'lapsed'`);
      await world.log.until('late_result');
      const claimsThen = claims;
      // Without a lease it doesn't ask the store.
      await (isAnew ? until(() => claims > claimsThen) : world.log.until('claim_recovered'));

      expect(await world.job('a')).toMatchObject({ state: 'running', attemptCount: 1 });
      await world.jobs.store.recoverLapsed(10);
      expect(await world.job('a')).toMatchObject({ state: 'interrupted', attemptCount: 1 });
      mayRetire.open();
      await executor.stop();
    },
  );

  test('outcomes of one moment go to the store in groups', async () => {
    const groups: number[] = [];
    const gate = latch();
    let running = 0;
    await world.jobs.submit(Array.from({ length: 8 }, () => work.create({})));
    const executor = world.executor(
      [
        world.jobs.handler(work, async () => {
          running++;
          await gate.opened;
        }),
      ],
      { concurrency: 8 },
      { settle: (call, settlements) => (groups.push(settlements.length), call()) },
    );
    await executor.start();
    await until(() => running === 8);
    gate.open();
    await executor.stop();

    expect(groups).toEqual([8]);
  });

  test('an outcome that the database refuses takes no other with it, and is written when it no longer does', async () => {
    const gate = latch();
    let running = 0;
    await world.jobs.submit(['a', 'b', 'c', 'poison'].map(id => work.create({}, { id })));
    await refuse(world, 'poison');
    const executor = world.executor([
      world.jobs.handler(work, async () => {
        running++;
        await gate.opened;
      }),
    ]);
    await executor.start();
    await until(() => running === 4);
    gate.open();

    for (const id of ['a', 'b', 'c']) {
      await until(async () => (await world.job(id)).state === 'succeeded');
    }
    await world.log.until('settle_failed');
    expect((await world.job('poison')).state).toBe('running');
    await refuse(world, 'nothing');
    await until(async () => (await world.job('poison')).state === 'succeeded');
    await executor.stop();

    expect(world.log.of('settle_failed')).toMatchObject([{ id: 'poison', attempt: 1 }]);
    expect(world.log.of('settle_recovered')).toMatchObject([{ id: 'poison', attempt: 1 }]);
  });

  test('outcomes that fail together are logged once, and one that fails after others were written is logged too', async () => {
    const gate = latch();
    let running = 0;
    let isAway = true;
    const ids = ['a', 'b', 'c', 'poison'];
    await world.jobs.submit(ids.map(id => work.create({}, { id })));
    await refuse(world, 'poison');
    const failed: string[] = [];
    const executor = world.executor(
      [
        world.jobs.handler(work, async () => {
          running++;
          await gate.opened;
        }),
      ],
      {},
      {
        settle: (call, settlements) => {
          if (!isAway) return call();
          if (settlements.length === 1) failed.push(settlements[0]!.id);
          return Promise.reject(new Error('no database'));
        },
      },
    );
    await executor.start();
    await until(() => running === 4);
    gate.open();
    await until(() => ids.every(id => failed.filter(each => each === id).length > 1));
    const first = world.log.of('settle_failed').map(({ id }) => id);
    isAway = false;
    await until(() => world.log.of('settle_failed').some(({ id }) => id === 'poison'));
    await refuse(world, 'nothing');
    await until(async () => (await world.job('poison')).state === 'succeeded');
    await executor.stop();

    expect(first).toHaveLength(1);
    const told = (event: string) => world.log.of(event).map(({ id }) => id);
    expect(told('settle_failed')).toEqual([...new Set([...first, 'poison'])]);
    expect(told('settle_recovered').sort()).toEqual(told('settle_failed').sort());
  });

  test('an outcome that cannot be written before the stop is over is left to the recovery of the next start', async () => {
    const ran = latch();
    let tries = 0;
    await world.jobs.submit(work.create({}, { id: 'a', onInterrupt: 'requeue' }));
    const handlers = [world.jobs.handler(work, async () => ran.open())];
    const options = { drainTimeout: 150, abortGrace: 0 };
    const executor = world.executor(handlers, options, {
      settle: () => {
        tries++;
        return Promise.reject(new Error('no database'));
      },
    });
    await executor.start();
    await ran.opened;
    await world.log.until('settle_failed');

    await executor.stop();
    const triesThen = tries;
    expect(tries).toBeGreaterThan(1);
    expect(world.log.of('settle_given_up')).toMatchObject([{ id: 'a', outcome: 'succeeded' }]);
    expect(world.log.of('executor_stopped')).toMatchObject([{ unsettled: 1 }]);
    expect((await world.job('a')).state).toBe('running');

    const next = world.executor(handlers, options);
    await next.start();
    await until(async () => (await world.job('a')).state === 'succeeded');
    expect(tries).toBe(triesThen);
  });

  test('a stop tries what was refused at once, and a last time when its budget is over', async () => {
    const ran = latch();
    let tries = 0;
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [world.jobs.handler(work, async () => ran.open())],
      { drainTimeout: 0, abortGrace: 100 },
      { settle: call => (++tries < 3 ? Promise.reject(new Error('no database')) : call()) },
    );
    await executor.start();
    await ran.opened;
    await world.log.until('settle_failed');

    await executor.stop();

    expect(tries).toBe(3);
    expect(world.log.of('executor_stopped')).toMatchObject([{ unsettled: 0 }]);
    expect((await world.job('a')).state).toBe('succeeded');
  });

  test('an outcome that was written although its answer was lost is asked for again, and not written twice', async () => {
    const sent: Settlement[] = [];
    const ran = latch();
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [world.jobs.handler(work, async () => ran.open())],
      {},
      {
        settle: async (call, settlements) => {
          sent.push(...settlements);
          const answers = await call();
          if (sent.length === 1) throw new Error('the connection is gone');
          return answers;
        },
      },
    );
    await executor.start();
    await ran.opened;
    await executor.stop();

    expect(sent).toHaveLength(2);
    expect(world.log.troubles).toEqual(['settle_failed']);
    expect(await world.job('a')).toMatchObject({ state: 'succeeded', attemptCount: 1 });
  });

  test('a progress or status that fails costs nothing but its tick', async () => {
    const began = latch();
    let [progressCalls, statusCalls] = [0, 0];
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          job.progress(30);
          began.open();
          await aborted(job.signal);
        }),
      ],
      { progressInterval: '10ms', renewEvery: '10ms', drainTimeout: '5m' },
      {
        progress: call => (progressCalls++ === 0 ? Promise.reject(new Error('no database')) : call()),
        status: call => (statusCalls++ === 0 ? Promise.reject(new Error('no database')) : call()),
      },
    );
    await executor.start();
    await began.opened;
    await until(async () => (await world.job('a')).progress === 30);
    await until(() => statusCalls > 1);
    await world.jobs.scope('').cancel('a');
    await executor.stop();

    expect((await world.job('a')).state).toBe('cancelled');
    expect(world.log.troubles).toEqual(['progress_failed', 'status_failed']);
  });

  test('a logger that throws stops nothing', async () => {
    const ran: string[] = [];
    world.log.error =
      world.log.warn =
      world.log.info =
        () => {
          throw new Error('no log');
        };
    await world.jobs.submit(work.create({}, { id: 'a' }));
    let claims = 0;
    const executor = world.executor(
      [world.jobs.handler(work, async job => void ran.push(job.id))],
      {},
      { claim: call => (claims++ === 0 ? Promise.reject(new Error('x')) : call()) },
    );

    await executor.start();
    await until(() => ran.length === 1);
    await executor.stop();

    expect((await world.job('a')).state).toBe('succeeded');
  });
});

forEachDriver(driver => {
  if (driver === 'postgresql') {
    test('an executor survives the death of all its connections', async () => {
      const world = await World.open(driver);
      const [began, gate] = [latch(), latch()];
      const ran: string[] = [];
      await world.jobs.submit(work.create({}, { id: 'before' }));
      const executor = world.executor(
        [
          world.jobs.handler(work, async job => {
            ran.push(job.id);
            began.open();
            await gate.opened;
          }),
        ],
        { pollInterval: '20ms', progressInterval: '20ms', renewEvery: '20ms' },
      );
      await executor.start();
      await began.opened;

      const killer = new pg.Client({ connectionString: postgresUrl() });
      await killer.connect();
      const kill = () =>
        killer.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
          dbNameOf(world.orm),
        ]);
      await kill();
      gate.open();
      await kill();
      await until(async () => (await world.job('before').catch(() => null))?.state === 'succeeded');
      await world.jobs.submit(work.create({}, { id: 'after' }));
      await until(() => ran.includes('after'));
      await executor.stop();
      await killer.end();

      expect((await world.job('after')).state).toBe('succeeded');
      await world.close();
    });
  }
});

/** A trigger of the host's that refuses the end of one job. */
async function refuse(world: World, id: string): Promise<void> {
  const em = world.orm.em.fork();

  if (world.driver === 'sqlite') {
    await em.execute('drop trigger if exists refuse_end');
    await em.execute(
      `create trigger refuse_end before update on durable_job when old.id = '${id}' and new.state = 'succeeded'
       begin select raise(abort, 'the host refuses'); end`,
    );
  } else {
    await em.execute(
      `create or replace function refuse_end() returns trigger language plpgsql as
       $$ begin if new.id = '${id}' and new.state = 'succeeded' then raise exception 'the host refuses'; end if; return new; end $$`,
    );
    await em.execute(
      'create or replace trigger refuse_end before update on durable_job for each row execute function refuse_end()',
    );
  }
}
