import type { EntityManager } from '@mikro-orm/postgresql';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import {
  AmbientTransactionError,
  AttemptSettledError,
  ConnectionTimeoutError,
  InvalidOptionError,
} from '../../src/core/errors.ts';
import type { RunningJob } from '../../src/core/handler.ts';
import { KeyInProgressError, PermanentError, ResultInvalidError } from '../../src/core/handler-errors.ts';
import { IdempotencyClaim } from '../../src/entities/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { latch, turns } from './support/latch.ts';
import { Log } from './support/log.ts';
import { ManualClock } from './support/manual-clock.ts';
import type { Taps } from './support/tap.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work', onInterrupt: 'requeue' });
const ttl = { ttl: '1h' } as const;

type Job = RunningJob<object, EntityManager>;

forEachDriver(driver => {
  let world: World;
  let clock: ManualClock;
  let calls: string[];
  beforeEach(async () => {
    clock = new ManualClock();
    calls = [];
    world = await World.open(driver, { clock });
    await world.jobs.submit([work.create({}, { id: 'a' }), work.create({}, { id: 'b' })]);
  });
  afterEach(() => world.close());

  /** What the tests have done once: it says who called, and gives that. */
  const call = (job: Job) => async () => {
    calls.push(`${job.id}${job.attempt}`);
    return { by: job.id };
  };

  const start = async (handler: (job: Job) => Promise<unknown>, taps: Taps = {}) => {
    const executor = world.executor(
      [world.jobs.handler(work, async job => void (await handler(job)))],
      { renewEvery: '5m', progressInterval: '5m', concurrency: 2 },
      taps,
    );
    await executor.start();
    return executor;
  };
  const untilEnded = (...ids: string[]) =>
    until(async () => (await Promise.all(ids.map(id => world.job(id)))).every(({ finishedAt }) => finishedAt !== null));
  /** Until it has run so many times and waits to be run again; then it is due. */
  const again = async (id: string, runs: number) => {
    await until(async () => {
      const { state, attemptCount } = await world.job(id);
      return state === 'queued' && attemptCount === runs;
    });
    await world.jobs.scope('').runNow(id);
  };
  const claims = () => world.orm.em.fork().find(IdempotencyClaim, {});

  test('work that was done is not done again: neither by a retry nor by another job of the scope', async () => {
    const got: unknown[] = [];
    await start(async job => {
      if (job.id === 'b' && (await world.job('a')).state !== 'succeeded') throw new Error('first a');
      got.push(await job.once('key', ttl, call(job)));
      if (job.id === 'a' && job.attempt === 1) throw new Error('after the work');
    });

    await again('a', 1);
    await untilEnded('a');
    await world.jobs.scope('').runNow('b');
    await untilEnded('b');

    expect(calls).toEqual(['a1']);
    expect(got).toEqual([{ by: 'a' }, { by: 'a' }, { by: 'a' }]);
    expect(await claims()).toMatchObject([
      { key: 'key', scope: '', state: 'completed', ownerJobId: 'a', value: '{"by":"a"}', claimExpiresAt: null },
    ]);
  });

  test('what the work gave is what JSON makes of it, also the first time; it may be nothing', async () => {
    const got: unknown[] = [];
    await world.jobs.scope('').cancel('b');
    await start(async job => {
      for (let time = 0; time < 2; time++) {
        got.push(await job.once('date', ttl, async () => ({ at: new Date(0), none: undefined })));
        got.push(await job.once('void', ttl, async () => {}));
      }
    });
    await untilEnded('a');

    const date = { at: '1970-01-01T00:00:00.000Z' };
    expect(got).toEqual([date, undefined, date, undefined]);
  });

  test('a result is kept for its ttl, and then the work is done again', async () => {
    await world.jobs.scope('').cancel('b');
    await start(async job => {
      await job.once('key', { ttl: '1h' }, call(job));
      clock.advance(3_599_999);
      await job.once('key', { ttl: '1h' }, call(job));
      clock.advance(1);
      await job.once('key', { ttl: '1h' }, call(job));
    });
    await untilEnded('a');

    expect(calls).toEqual(['a1', 'a1']);
  });

  test('work that throws gives the key free, and its error goes on', async () => {
    const thrown = new Error('no');
    const caught: unknown[] = [];
    await world.jobs.scope('').cancel('b');
    await start(async job => {
      await job.once('key', ttl, () => Promise.reject(thrown)).catch(error => caught.push(error));
      caught.push((await claims()).length);
      await job.once('key', ttl, call(job));
    });
    await untilEnded('a');

    expect(caught).toEqual([thrown, 0]);
    expect(calls).toEqual(['a1']);
  });

  test('a key that could not be given free is taken from the attempt when it has ended', async () => {
    await world.jobs.scope('').cancel('b');
    await start(
      job =>
        job.once('key', ttl, async () => (await call(job)(), job.attempt === 1 ? Promise.reject(new Error('no')) : 1)),
      { releaseKey: () => Promise.reject(new Error('gone')) },
    );
    await again('a', 1);
    await untilEnded('a');

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', failureCount: 1 });
    expect(calls).toEqual(['a1', 'a2']);
    expect(world.log.troubles).toEqual(['once_release_failed']);
  });

  test('a job that finds another at work comes back for the result: no failure, and no start is spent', async () => {
    const [began, gate] = [latch<string>(), latch()];
    const got: unknown[] = [];
    const refusals: unknown[] = [];
    await start(async job => {
      const value = await job
        .once('key', ttl, async () => {
          began.open(job.id);
          await gate.opened;
          return call(job)();
        })
        .catch(error => {
          refusals.push(error);
          throw error;
        });
      got.push(value);
    });
    const [owner, other] = (await began.opened) === 'a' ? ['a', 'b'] : ['b', 'a'];
    await until(async () => (await world.job(other)).state === 'queued' && (await world.job(other)).attemptCount === 1);

    const waiting = await world.job(other);
    gate.open();
    await untilEnded(owner);
    await world.jobs.scope('').runNow(other);
    await untilEnded(other);

    expect(refusals).toEqual([expect.any(KeyInProgressError)]);
    expect(waiting).toMatchObject({ failureCount: 0, lastError: null, attemptLimit: 11 });
    expect(waiting.nextRunAt.getTime()).toBe(clock.now() / 1000 + 2000);
    expect(got).toEqual([{ by: owner }, { by: owner }]);
    expect(calls).toEqual([`${owner}1`]);
  });

  test('the rerun of a job whose process died at work does the work, and does not pass over it', async () => {
    await world.jobs.scope('').cancel('b');
    await world.jobs.store.register({ id: 'killed', name: 'killed', host: 'h', leaseUntil: null, metadata: {} });
    const dead = (await world.jobs.store.tryStart({ scope: '', id: 'a' }, 'killed'))!;
    await world.idempotency.claimKey(dead, 'key', clock.now() + 1e12);

    await start(job => job.once('key', ttl, call(job)));
    await untilEnded('a');

    expect(calls).toEqual(['a2']);
    expect(await world.job('a')).toMatchObject({ state: 'succeeded', attemptCount: 2 });
  });

  /** The job is taken from the attempt that runs it, and is queued again. */
  const takeAway = async (id: string) => {
    const held = (await world.jobs.store.running({ limit: 10 })).find(attempt => attempt.id === id)!;
    await world.jobs.store.recover([held], { requeue: 'always', reason: 'lease_lapsed' });
  };

  test('an attempt that lost its job begins no work', async () => {
    const rejections: unknown[] = [];
    await world.jobs.scope('').cancel('b');
    await start(async job => {
      if (job.attempt === 1) await takeAway('a');
      await job.once('key', ttl, call(job)).catch(error => {
        rejections.push([error === job.signal.reason, error.why]);
        throw error;
      });
    });
    await untilEnded('a');
    await until(() => world.log.troubles.length === 2);

    expect(rejections).toEqual([[true, 'lost']]);
    expect(calls).toEqual(['a2']);
    expect(world.log.troubles).toEqual(['attempt_lost', 'late_result']);
  });

  test('an attempt that lost its job while it worked stores nothing: the rerun works again, and its result counts', async () => {
    const rejections: unknown[] = [];
    await world.jobs.scope('').cancel('b');
    await start(async job => {
      const value = job.once('key', ttl, async () => {
        if (job.attempt === 1) await takeAway('a');
        calls.push(`a${job.attempt}`);
        return job.attempt;
      });
      await value.catch(error => {
        rejections.push([error === job.signal.reason, error.why]);
        throw error;
      });
    });
    await untilEnded('a');
    // The rerun doesn't wait for the attempt that was lost.
    await until(() => rejections.length === 1);

    expect(rejections).toEqual([[true, 'lost']]);
    expect(calls).toEqual(['a1', 'a2']);
    expect(await claims()).toMatchObject([{ state: 'completed', value: '2' }]);
  });

  test('an attempt whose claim expired and was taken gets what the other one stored', async () => {
    const [began, gate] = [latch(), latch()];
    const got: unknown[] = [];
    await world.jobs.scope('').cancel('b');
    await world.jobs.submit(work.create({}, { id: 'c', notBefore: new Date(clock.now() / 1000 + 60_000) }));
    await start(async job => {
      const value = await job.once('key', { ttl: '1h', claimTtl: '1m' }, async () => {
        if (job.id === 'a') {
          began.open();
          await gate.opened;
        }
        return call(job)();
      });
      got.push(value);
    });
    await began.opened;

    clock.advance(60_000);
    await world.jobs.scope('').runNow('c');
    await untilEnded('c');
    gate.open();
    await untilEnded('a');

    expect(calls).toEqual(['c1', 'a1']);
    expect(got).toEqual([{ by: 'c' }, { by: 'c' }]);
  });

  test('a result is stored although the claim expired and was forgotten meanwhile, and the work is not done again', async () => {
    await world.jobs.scope('').cancel('b');
    await start(job =>
      job.once('key', { ttl: '1h', claimTtl: '1m' }, async () => {
        clock.advance(60_000);
        await world.idempotency.pruneKeys(10);
        return call(job)();
      }),
    );
    await untilEnded('a');

    expect(calls).toEqual(['a1']);
    expect(await claims()).toMatchObject([{ state: 'completed', value: '{"by":"a"}' }]);
  });

  test('a result that the database can not take at first is written when it can, and the work is not done again', async () => {
    let failures = 2;
    await world.jobs.scope('').cancel('b');
    await start(job => job.once('key', ttl, call(job)), {
      completeKey: store => (failures-- > 0 ? Promise.reject(new Error('gone')) : store()),
    });
    await untilEnded('a');

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', attemptCount: 1 });
    expect(calls).toEqual(['a1']);
    expect(world.log.troubles).toEqual(['once_failed']);
  });

  test('a result that was written although the answer got lost is the result', async () => {
    const got: unknown[] = [];
    let isLost = true;
    await world.jobs.scope('').cancel('b');
    await start(async job => void got.push(await job.once('key', ttl, call(job))), {
      completeKey: async store => {
        const answer = await store();
        if (!isLost) return answer;
        isLost = false;
        throw new Error('connection lost');
      },
    });
    await untilEnded('a');

    expect(got).toEqual([{ by: 'a' }]);
    expect(calls).toEqual(['a1']);
  });

  test('a result that can not be stored fails the job at once, and the key is free', async () => {
    await world.jobs.scope('').cancel('b');
    const caught: unknown[] = [];
    await start(job =>
      job
        .once('key', ttl, async () => ({ cents: 1n }))
        .catch(error => {
          caught.push(error);
          throw error;
        }),
    );
    await untilEnded('a');

    expect(caught).toEqual([expect.any(ResultInvalidError)]);
    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'result_invalid', attemptCount: 1 });
    expect(await claims()).toEqual([]);
  });

  test('keys and options that can not be are refused before any SQL', async () => {
    const refusals: unknown[] = [];
    const asked: string[] = [];
    await world.jobs.scope('').cancel('b');
    await start(
      async job => {
        for (const [key, options] of [['', ttl], ['a\u0000', ttl], ['k', {}], ['k', { ttl: 0 }]] as const) {
          await job.once(key, options as never, call(job)).catch(error => refusals.push(error.option));
        }
        await job.once('k', ttl, 'work' as never).catch(error => refusals.push(error.option));
      },
      { claimKey: ask => (asked.push('claimKey'), ask()) },
    ); // prettier-ignore
    await untilEnded('a');

    expect(refusals).toEqual(['key', 'key', 'ttl', 'ttl', 'work']);
    expect([calls, asked]).toEqual([[], []]);
  });

  test('it is refused inside of a transaction, before any SQL, and works after it', async () => {
    const refusals: unknown[] = [];
    const asked: string[] = [];
    await world.jobs.scope('').cancel('b');
    await start(
      async job => {
        const refused = async () => {
          await job.once('key', ttl, call(job)).catch(error => refusals.push(error));
        };
        await job.em.transactional(refused);
        await job.em.begin();
        await refused();
        await job.em.rollback();
        expect(asked).toEqual([]);
        await job.once('key', ttl, call(job));
        await job.transactional(refused);
        await refused();
      },
      { claimKey: ask => (asked.push('claimKey'), ask()) },
    );
    await untilEnded('a');
    // The job has ended with its transaction, the handler with its last call.
    await until(() => refusals.length === 4);

    const ambient = expect.any(AmbientTransactionError);
    expect(refusals).toEqual([ambient, ambient, ambient, expect.any(AttemptSettledError)]);
    expect(asked).toEqual(['claimKey']);
    expect(calls).toEqual(['a1']);
    expect((await world.job('a')).state).toBe('succeeded');
  });

  test('it is refused beside a transaction that settles its attempt, which may have the only connection', async () => {
    let refusal: unknown;
    await world.jobs.scope('').cancel('b');
    await start(async job => {
      const [began, gate] = [latch(), latch()];
      const settled = job.transactional(async () => {
        began.open();
        await gate.opened;
      });
      await began.opened;
      refusal = await job.once('key', ttl, call(job)).catch(error => error);
      gate.open();
      await settled;
    });
    await untilEnded('a');

    expect(refusal).toBeInstanceOf(AmbientTransactionError);
    expect(calls).toEqual([]);
  });

  test('an attempt does not work twice at once under a key, nor inside of its own work', async () => {
    const refusals: unknown[] = [];
    await world.jobs.scope('').cancel('b');
    await start(async job => {
      await job.once('outer', ttl, async () => {
        await job.once('outer', ttl, call(job)).catch(error => refusals.push(error));
        await job.once('inner', ttl, call(job));
      });
    });
    await untilEnded('a');

    expect(refusals).toEqual([expect.any(InvalidOptionError)]);
    expect(calls).toEqual(['a1']);
  });

  test('a call that the handler does not wait for stores nothing once the attempt is over, and disturbs nobody', async () => {
    const unhandled: unknown[] = [];
    const keep = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', keep);
    const [began, gate] = [latch(), latch()];
    const asked: string[] = [];
    let late: Promise<unknown> | undefined;
    await world.jobs.scope('').cancel('b');
    await start(
      async job => {
        late = job.once('key', ttl, async () => {
          began.open();
          await gate.opened;
          return 1;
        });
        await began.opened;
        void job.once('', ttl, call(job));
      },
      { completeKey: ask => (asked.push('completeKey'), ask()) },
    );
    await untilEnded('a');
    gate.open();
    const refusal = await late!.catch(error => error);
    await turns(5);
    process.off('unhandledRejection', keep);

    expect(refusal).toBeInstanceOf(AttemptSettledError);
    expect(unhandled).toEqual([]);
    expect(asked).toEqual([]);
    expect(await claims()).toMatchObject([{ state: 'in_progress', value: null }]);
  });

  test('a PermanentError of the work is one for the job', async () => {
    await world.jobs.scope('').cancel('b');
    await start(job => job.once('key', ttl, () => Promise.reject(new PermanentError('declined'))));
    await untilEnded('a');

    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'permanent_error' });
  });

  test('maintenance forgets results that have expired', async () => {
    await world.jobs.scope('').cancel('b');
    await start(async job => {
      await job.once('long', { ttl: '2h' }, call(job));
      await job.once('short', { ttl: '1h' }, call(job));
    });
    await untilEnded('a');
    clock.advance(3_600_000);

    await world.executor([world.jobs.handler(work, () => {})], { maintenanceInterval: 10 }).start();
    await until(async () => (await claims()).length < 2);

    expect((await claims()).map(({ key }) => key)).toEqual(['long']);
  });

  if (driver === 'sqlite') {
    test('beside a begin() on the only connection that nobody sees, it gives up', async () => {
      const jobs = new Jobs({ orm: world.orm, logger: new Log(), connectionTimeout: 1000 });
      let refusal: unknown;
      const hidden = async (job: Job) => {
        const em = world.orm.em.fork();
        await em.begin();
        refusal = await job.once('key', ttl, call(job)).catch(error => error);
        await em.rollback();
      };
      const executor = jobs.executor({ lease: false, handlers: [jobs.handler(work, hidden)] });
      await world.jobs.scope('').cancel('b');
      await executor.start();
      await untilEnded('a');
      await executor.stop();

      expect(refusal).toBeInstanceOf(ConnectionTimeoutError);
      expect(calls).toEqual([]);
    });
  }
});
