import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { AttemptAbortedError } from '../../src/core/abort-reason.ts';
import { defineJob } from '../../src/core/definition.ts';
import { SnoozeError } from '../../src/core/handler-errors.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { aborted, latch } from './support/latch.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work' });

forEachDriver(driver => {
  let world: World;
  beforeEach(async () => void (world = await World.open(driver, { file: true })));
  afterEach(() => world.close());

  test('a cancel in the same process reaches the handler at once', async () => {
    const began = latch();
    const reason = latch<unknown>();
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async ({ signal }) => {
          began.open();
          await aborted(signal).catch(error => {
            reason.open(error);
            throw error;
          });
        }),
      ],
      { progressInterval: '5m', renewEvery: '5m' },
    );
    await executor.start();
    await began.opened;

    expect(await world.jobs.scope('').cancel('a')).toBe('requested');
    expect(await reason.opened).toBeInstanceOf(AttemptAbortedError);
    expect(await reason.opened).toMatchObject({ why: 'cancelled', key: { scope: '', id: 'a' }, attempt: 1 });
    await executor.stop();

    expect(await world.job('a')).toMatchObject({ state: 'cancelled', resultRef: null, failureCount: 0 });
  });

  test('a cancel of another process reaches the handler with the next reading of the marks', async () => {
    const began = latch();
    const other = await world.another();
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async ({ signal }) => {
          began.open();
          await aborted(signal);
        }),
      ],
      { progressInterval: '20ms', renewEvery: '40ms', drainTimeout: '5m' },
    );
    await executor.start();
    await began.opened;

    expect(await other.jobs.scope('').cancel('a')).toBe('requested');
    await executor.stop();

    expect((await world.job('a')).state).toBe('cancelled');
  });

  test('a cancel reaches a handler that reports progress with its next report', async () => {
    const began = latch();
    const other = await world.another();
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          began.open();
          const stop = setInterval(() => job.progress(performance.now() % 100), 5);
          await aborted(job.signal).finally(() => clearInterval(stop));
        }),
      ],
      { progressInterval: '20ms', renewEvery: '5m', drainTimeout: '5m' },
    );
    await executor.start();
    await began.opened;

    await other.jobs.scope('').cancel('a');
    await executor.stop();

    expect((await world.job('a')).state).toBe('cancelled');
  });

  test.each<[string, () => Promise<string>]>([
    ['returns a result', async () => 'result'],
    ['throws an error of its own', () => Promise.reject(new Error('x'))],
    ['asks for another time', () => Promise.reject(new SnoozeError('1h'))],
  ])('a job whose handler %s after a cancel is cancelled, without a result', async (_, end) => {
    const began = latch();
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(work, async ({ signal }) => {
        began.open();
        await aborted(signal).catch(() => {});
        return end();
      }),
    ]);
    await executor.start();
    await began.opened;

    await world.jobs.scope('').cancel('a');
    await executor.stop();

    expect(await world.job('a')).toMatchObject({ state: 'cancelled', resultRef: null });
    expect(await world.jobs.scope('').attempts('a')).toMatchObject([{ state: 'cancelled', resultRef: null }]);
  });

  test('a cancel that comes while the answer of the claim is on its way reaches the handler nevertheless', async () => {
    const [claimed, answer] = [latch(), latch()];
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [world.jobs.handler(work, ({ signal }) => aborted(signal))],
      { progressInterval: '20ms', renewEvery: '5m', drainTimeout: '5m' },
      {
        claim: async call => {
          const claim = await call();
          if (claim.attempts.length > 0) {
            claimed.open();
            await answer.opened;
          }
          return claim;
        },
      },
    );
    await executor.start();
    await claimed.opened;
    expect(await world.jobs.scope('').cancel('a')).toBe('requested');
    answer.open();

    await until(async () => (await world.job('a')).state !== 'running');

    expect((await world.job('a')).state).toBe('cancelled');
  });

  test('the signal of a job that was retried after a cancel has not fired', async () => {
    const signals: boolean[] = [];
    const began = [latch(), latch()];
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(work, async job => {
        signals.push(job.signal.aborted);
        began[job.attempt - 1]!.open();
        if (job.attempt === 1) await aborted(job.signal);
      }),
    ]);
    await executor.start();
    await began[0]!.opened;

    await world.jobs.scope('').cancel('a');
    await until(async () => (await world.jobs.scope('').retry('a')) === 'queued');
    await began[1]!.opened;
    await executor.stop();

    expect(signals).toEqual([false, false]);
    expect((await world.job('a')).state).toBe('succeeded');
  });

  test('a cancel amid work under a key leaves nothing of itself to the retry: no result, no held key, no mark', async () => {
    const began = latch();
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(work, async job => {
        job.progress(40, 'at work');
        const done = await job.once('key', { ttl: '1d' }, () => {
          began.open();
          return job.attempt === 1 ? aborted(job.signal) : Promise.resolve(`attempt ${job.attempt}`);
        });
        return job.transactional(async () => done);
      }),
    ]);
    await executor.start();
    await began.opened;

    await world.jobs.scope('').cancel('a', { reason: 'a mistake' });
    await until(async () => (await world.jobs.scope('').retry('a')) === 'queued');
    await until(async () => (await world.job('a')).state === 'succeeded');
    await executor.stop();

    expect(await world.job('a')).toMatchObject({
      resultRef: 'attempt 2',
      cancelRequestedAt: null,
      cancelReason: null,
      failureReason: null,
      progress: 40,
    });
    expect((await world.jobs.scope('').attempts('a')).map(({ state }) => state)).toEqual(['cancelled', 'succeeded']);
  });

  test('an attempt that was recovered elsewhere is told that it lost its job, and writes nothing', async () => {
    const began = latch();
    const why = latch<unknown>();
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async ({ signal }) => {
          began.open();
          await aborted(signal).catch(error => why.open(error.why));
          return 'stale';
        }),
      ],
      { progressInterval: '20ms', renewEvery: '20ms', drainTimeout: '5m' },
    );
    await executor.start();
    await began.opened;

    const [attempt] = await world.jobs.store.running({ limit: 1 });
    await world.jobs.store.recover([attempt!], { requeue: 'never', reason: 'lease_lapsed' });
    expect(await why.opened).toBe('lost');
    await executor.stop();

    expect(await world.job('a')).toMatchObject({
      state: 'interrupted',
      resultRef: null,
      failureReason: 'lease_lapsed',
    });
    expect(world.log.troubles).toEqual(['attempt_lost', 'late_result']);
  });
});
