import type { EntityManager } from '@mikro-orm/postgresql';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { AttemptSettledError } from '../../src/core/errors.ts';
import type { RunningJob } from '../../src/core/handler.ts';
import { PermanentError } from '../../src/core/handler-errors.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { aborted, latch } from './support/latch.ts';
import { Note } from './support/note.entity.ts';
import type { Taps } from './support/tap.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work' });
const followUp = defineJob<object>()({ name: 'follow-up' });

type Job = RunningJob<object, EntityManager>;

forEachDriver(driver => {
  let world: World;
  beforeEach(async () => {
    world = await World.open(driver);
    await world.jobs.submit(work.create({}, { id: 'a' }));
  });
  afterEach(() => world.close());

  /** Runs the job `a` once, from start to stop; the handler is awaited before the stop begins. */
  async function runOnce(handler: (job: Job) => Promise<string | void>, taps: Taps = {}): Promise<void> {
    const ended = latch();
    const run = (job: Job) => handler(job).finally(() => ended.open());
    const executor = world.executor(
      [world.jobs.handler(work, run)],
      { renewEvery: '5m', progressInterval: '5m' },
      taps,
    );

    await executor.start();
    await ended.opened;
    await executor.stop();
  }

  const write = async (em: EntityManager) => void em.persist(em.create(Note, { id: 'n', text: '' }));

  test('what work writes, the jobs that it stages and the completion are committed together', async () => {
    let during: unknown;
    await runOnce(
      async job => {
        job.progress(90, 'writing');
        const result = await job.transactional(async em => {
          await write(em);
          await world.jobs.stage(em, followUp.create({}, { id: 'next' }));
          return 'note/n';
        });
        during = [result, await world.notes(), (await world.job('a')).state];
      },
      { settle: () => Promise.reject(new Error('there was nothing left to settle')) },
    );

    expect(during).toEqual(['note/n', ['n'], 'succeeded']);
    expect(await world.job('a')).toMatchObject({ resultRef: 'note/n', progress: 90, progressMessage: 'writing' });
    expect((await world.job('next')).state).toBe('queued');
    expect(world.log.troubles).toEqual([]);
  });

  test('a handler that throws after the commit has succeeded all the same, and the error is logged', async () => {
    await runOnce(async job => {
      await job.transactional(write);
      job.progress(50);
      throw new Error('too late');
    });

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', lastError: null, progress: 0 });
    expect(await world.notes()).toEqual(['n']);
    expect(world.log.troubles).toEqual(['late_progress', 'late_error']);
  });

  test('an error of work rolls everything back and fails the attempt, also when the handler swallows it', async () => {
    let caught: unknown;
    await runOnce(async job => {
      await job
        .transactional(async em => {
          await write(em);
          throw new Error('no');
        })
        .catch(error => (caught = error.message));
      return 'swallowed';
    });

    expect(caught).toBe('no');
    expect(await world.job('a')).toMatchObject({ state: 'queued', failureReason: 'handler_error', resultRef: null });
    expect(await world.notes()).toEqual([]);
  });

  test('a statement that fails and is swallowed rolls everything back on PostgreSQL; SQLite goes on without it', async () => {
    await runOnce(async job => {
      await job.transactional(async em => {
        await em.insert(Note, { id: 'n', text: '' });
        await em.execute('insert into nowhere values (1)').catch(() => {});
      });
    });

    const isCommitted = driver === 'sqlite';
    expect(await world.notes()).toEqual(isCommitted ? ['n'] : []);
    expect((await world.job('a')).state).toBe(isCommitted ? 'succeeded' : 'queued');
  });

  test('a handler that makes another error of the error of work decides with that', async () => {
    await runOnce(async job => {
      await job
        .transactional(() => Promise.reject(new Error('no')))
        .catch(cause => Promise.reject(new PermanentError('never', { cause })));
    });

    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'permanent_error' });
  });

  test('what the database refuses at the flush fails the attempt, and the job stays running until then', async () => {
    await runOnce(async job => {
      await job
        .transactional(async em => {
          await em.insert(Note, { id: 'n', text: '' });
          await em.insert(Note, { id: 'n', text: '' });
        })
        .catch(() => {});
    });

    expect(await world.job('a')).toMatchObject({ state: 'queued', failureReason: 'handler_error' });
    expect(await world.notes()).toEqual([]);
  });

  test('a cancel that came first rolls everything back; the call rejects and the job is cancelled', async () => {
    const [began, cancelled] = [latch(), latch()];
    let rejection: unknown;
    const ran = runOnce(async job => {
      began.open();
      await cancelled.opened;
      await job.transactional(write).catch(error => {
        rejection = [error === job.signal.reason, error.why];
        throw error;
      });
    });
    await began.opened;

    await world.jobs.scope('').cancel('a');
    cancelled.open();
    await ran;

    expect(rejection).toEqual([true, 'cancelled']);
    expect(await world.job('a')).toMatchObject({ state: 'cancelled', resultRef: null });
    expect(await world.notes()).toEqual([]);
  });

  test('a cancel that no hint told of is found by the settlement itself', async () => {
    let why: unknown;
    await runOnce(async job => {
      await world.orm.em.fork().execute(`update durable_job set cancel_requested_at = 1 where id = 'a'`);
      expect(job.signal.aborted).toBe(false);
      await job.transactional(write).catch(error => (why = [error.why, job.signal.reason.why]));
    });

    expect(why).toEqual(['cancelled', 'cancelled']);
    expect(await world.job('a')).toMatchObject({ state: 'cancelled', resultRef: null });
    expect(await world.notes()).toEqual([]);
  });

  test('an attempt that lost its job commits nothing of its work', async () => {
    let why: unknown;
    let calls = 0;
    await runOnce(async job => {
      const [held] = await world.jobs.store.running({ limit: 1 });
      await world.jobs.store.recover([held!], { requeue: 'never', reason: 'lease_lapsed' });
      await job
        .transactional(async em => {
          calls++;
          await write(em);
        })
        .catch(error => (why = [error.why, error.cause.code, job.signal.reason.why]));
    });

    expect(calls).toBe(1);
    expect(why).toEqual(['lost', 'STALE_ATTEMPT', 'lost']);
    expect(await world.job('a')).toMatchObject({ state: 'interrupted', failureReason: 'lease_lapsed' });
    expect(await world.notes()).toEqual([]);
    expect(world.log.troubles).toEqual(['attempt_lost', 'late_result']);
  });

  test('an attempt whose row is gone commits nothing of its work, and says so', async () => {
    let why: unknown;
    await runOnce(async job => {
      await world.orm.em.fork().execute(`delete from durable_job_attempt where job_id = 'a'`);
      await job.transactional(write).catch(error => (why = [error.why, error.cause.code]));
    });

    expect(why).toEqual(['lost', 'ATTEMPT_MISSING']);
    expect((await world.job('a')).state).toBe('running');
    expect(await world.notes()).toEqual([]);
    expect(world.log.troubles).toEqual(['attempt_missing', 'late_result']);
  });

  test.each(['commit', 'rollback', 'begin'] as const)(
    'work that calls %s() on its EntityManager fails its attempt, and nothing of it is committed',
    async call => {
      await runOnce(async job => {
        const endItself = async (em: EntityManager) => {
          await write(em);
          await em[call]().catch(() => {});
          return 'never';
        };
        await job.transactional(endItself).catch(() => {});
      });

      expect(await world.notes()).toEqual([]);
      expect(await world.job('a')).toMatchObject({ state: 'queued', resultRef: null, failureReason: 'handler_error' });
      expect((await world.job('a')).lastError).toContain(`em.${call}()`);
    },
  );

  test('a transaction that a handler leaves open is rolled back when it has ended', async () => {
    await runOnce(async job => {
      await job.em.begin();
      await write(job.em);
      await job.em.flush();
    });

    expect(await world.notes()).toEqual([]);
    expect((await world.job('a')).state).toBe('succeeded');
  });

  test('a second call is refused, whether the first was committed or not', async () => {
    const refusals: unknown[] = [];
    const failure = new Error('x');
    let calls = 0;
    const count = async () => void calls++;
    const twice = async (job: Job, first: () => Promise<void>) => {
      await job.transactional(first).catch(() => {});
      await job.transactional(count).catch(error => refusals.push(error));
    };

    await runOnce(job => twice(job, async () => {}));
    await world.jobs.submit(work.create({}, { id: 'b' }));
    await runOnce(job => twice(job, () => Promise.reject(failure)));

    expect(refusals).toEqual([expect.any(AttemptSettledError), expect.any(AttemptSettledError)]);
    expect(refusals).toMatchObject([
      { message: expect.stringContaining('"a" was settled'), cause: undefined },
      { message: expect.stringContaining('"b" had failed in its first call'), cause: failure },
    ]);
    expect(calls).toBe(0);
  });

  test('a second call beside the first is refused, and the first goes on', async () => {
    let refusal: unknown;
    await runOnce(async job => {
      const first = job.transactional(write);
      await job.transactional(write).catch(error => (refusal = error));
      await first;
    });

    expect(refusal).toMatchObject({
      code: 'ATTEMPT_SETTLED',
      message: expect.stringContaining('"a" had begun its first call'),
    });
    expect((await world.job('a')).state).toBe('succeeded');
  });

  test('a call between the end of the handler and the decision about its attempt begins nothing', async () => {
    let [job, refusal]: unknown[] = [];
    let calls = 0;
    const callLate = () => (job as Job).transactional(async () => void calls++).catch(error => void (refusal = error));
    await runOnce(
      async running => {
        job = running;
        return 'returned';
      },
      { afterHandler: callLate },
    );

    expect(calls).toBe(0);
    expect(refusal).toMatchObject({
      code: 'ATTEMPT_SETTLED',
      message: expect.stringContaining('"a" had ended with its handler'),
    });
    expect(await world.job('a')).toMatchObject({ state: 'succeeded', resultRef: 'returned' });
  });

  test('a call after the attempt is over is refused, and its work does not begin', async () => {
    let late: Job | undefined;
    let calls = 0;
    await runOnce(async job => void (late = job));

    await expect(late!.transactional(async () => void calls++)).rejects.toBeInstanceOf(AttemptSettledError);
    expect(calls).toBe(0);
  });

  test('a transaction that the handler does not wait for is waited for', async () => {
    const gate = latch();
    const returned = latch();
    const ran = runOnce(async job => {
      void job.transactional(async em => {
        await gate.opened;
        await write(em);
        return 'floating';
      });
      returned.open();
      return 'not this';
    });
    await returned.opened;
    gate.open();
    await ran;

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', resultRef: 'floating' });
    expect(await world.notes()).toEqual(['n']);
  });

  test('a floating transaction that fails fails the attempt, and nothing is left unhandled', async () => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', listener);
    await runOnce(async job => {
      void job.transactional(() => Promise.reject(new Error('floating')));
    });
    await new Promise(resolve => setImmediate(resolve));
    process.off('unhandledRejection', listener);

    expect(await world.job('a')).toMatchObject({ state: 'queued', failureReason: 'handler_error' });
    expect(unhandled).toEqual([]);
  });

  test('a result that can be no reference rolls the work back and fails the job, whatever the handler makes of it', async () => {
    await runOnce(async job => {
      await job.transactional(async em => {
        await write(em);
        return 'x'.repeat(2049);
      });
    });

    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'result_invalid' });
    expect(await world.notes()).toEqual([]);
  });

  test('a transaction that is called after the timeout lets the database decide', async () => {
    const hasty = defineJob<object>()({ name: 'hasty', timeout: '20ms' });
    const ended = latch();
    await world.jobs.submit(hasty.create({}, { id: 'h' }));
    const executor = world.executor([
      world.jobs.handler(hasty, async job => {
        await aborted(job.signal).catch(() => {});
        await job.transactional(write).finally(() => ended.open());
      }),
    ]);
    await executor.start();
    await ended.opened;
    await executor.stop();

    expect((await world.job('h')).state).toBe('succeeded');
    expect(await world.notes()).toEqual(['n']);
  });

  test('a reading of the marks between the commit and its answer does not call the attempt lost', async () => {
    const [committed, statusRead, ended] = [latch(), latch(), latch()];
    let isCommitted = false;
    let aborted: unknown;
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          await job.transactional(write);
          aborted = job.signal.aborted;
          ended.open();
        }),
      ],
      { progressInterval: '10ms', renewEvery: '10ms' },
      {
        transactional: async call => {
          const result = await call();
          isCommitted = true;
          committed.open();
          await statusRead.opened;
          return result;
        },
        status: async call => {
          const answersEnd = isCommitted;
          const answer = await call();
          // The answer is heeded in the turn in which it is returned.
          if (answersEnd) setImmediate(() => statusRead.open());
          return answer;
        },
      },
    );
    await executor.start();
    await ended.opened;
    await executor.stop();

    expect(aborted).toBe(false);
    expect(world.log.troubles).toEqual([]);
    expect((await world.job('a')).state).toBe('succeeded');
  });

  test('a handler that works on after its commit is told of a stop', async () => {
    const committed = latch();
    let why: unknown;
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          await job.transactional(write);
          committed.open();
          await aborted(job.signal).catch(error => (why = error.why));
        }),
      ],
      { drainTimeout: 10, abortGrace: '5m' },
    );
    await executor.start();
    await committed.opened;

    await executor.stop();

    expect(why).toBe('stopped');
    expect((await world.job('a')).state).toBe('succeeded');
  });

  test('a commit whose answer was lost stands: the job stays succeeded, and the attempt writes nothing more', async () => {
    await runOnce(job => job.transactional(write), {
      transactional: async call => {
        await call();
        throw new Error('the connection is gone');
      },
    });

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', attemptCount: 1, failureCount: 0 });
    expect(await world.notes()).toEqual(['n']);
    expect(world.log.troubles).toEqual(['attempt_lost']);
  });
});

forEachDriver(driver => {
  if (driver === 'postgresql') {
    test('a cancel during the work is obeyed by its settlement', async () => {
      const world = await World.open(driver);
      const [wrote, cancelled, ended] = [latch(), latch(), latch()];
      await world.jobs.submit(work.create({}, { id: 'a' }));
      const executor = world.executor([
        world.jobs.handler(work, async job => {
          await job
            .transactional(async em => {
              await em.insert(Note, { id: 'n', text: '' });
              wrote.open();
              await cancelled.opened;
              return 'done';
            })
            .finally(() => ended.open());
        }),
      ]);
      await executor.start();
      await wrote.opened;

      expect(await world.jobs.scope('').cancel('a')).toBe('requested');
      cancelled.open();
      await ended.opened;
      await until(async () => (await world.job('a')).state !== 'running');

      expect(await world.job('a')).toMatchObject({ state: 'cancelled', resultRef: null });
      expect(await world.notes()).toEqual([]);
      await world.close();
    });
  }
});
