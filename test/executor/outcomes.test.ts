import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { PermanentError, RetryAfterError, SnoozeError } from '../../src/core/handler-errors.ts';
import type { RunningJob } from '../../src/core/handler.ts';
import type { JobSnapshot } from '../../src/core/snapshot.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { aborted, latch } from './support/latch.ts';
import { ManualClock } from './support/manual-clock.ts';
import { World } from './support/world.ts';

const second = 1000;
const work = defineJob<object>()({ name: 'work', maxAttempts: 3, retry: { base: '10s', factor: 3, jitter: 0 } });

forEachDriver(driver => {
  let clock: ManualClock;
  let world: World;
  beforeEach(async () => void (world = await World.open(driver, { clock: (clock = new ManualClock()) })));
  afterEach(() => world.close());

  /** Runs the job `a` once with this handler, from start to stop. */
  async function runOnce(run: (job: RunningJob<object, unknown>) => unknown, definition = work): Promise<JobSnapshot> {
    const began = latch();
    const executor = world.executor([
      world.jobs.handler(definition, job => {
        began.open();
        return run(job) as Promise<void>;
      }),
    ]);
    await executor.start();
    await began.opened;
    await executor.stop();

    return world.job('a');
  }

  test('a failed job is tried again when its policy says, until its starts are spent', async () => {
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const fail = () => Promise.reject(new Error('no luck'));

    const first = await runOnce(fail);
    expect(first).toMatchObject({ state: 'queued', attemptCount: 1, failureCount: 1, failureReason: 'handler_error' });
    expect(first.nextRunAt.getTime()).toBe(clock.now() / 1000 + 10 * second);

    clock.advance(10 * second);
    const next = await runOnce(fail);
    expect(next.nextRunAt.getTime()).toBe(clock.now() / 1000 + 30 * second);

    clock.advance(30 * second);
    const last = await runOnce(fail);
    expect(last).toMatchObject({ state: 'failed', attemptCount: 3, failureReason: 'attempts_exhausted' });
    expect(last.lastError).toContain('no luck');
  });

  test('the log has an error of a job that has failed for good, and nothing of one that is tried again or succeeded', async () => {
    const isUnlucky = (id: string) => ({ event: 'attempt_settled', id, error: expect.stringContaining('no luck') });
    await world.jobs.submit(work.create({}, { id: 'a' }));
    await runOnce(() => Promise.reject(new Error('no luck')));
    expect(world.log.of('attempt_settled')).toEqual([]);

    clock.advance(10 * second);
    await runOnce(() => Promise.reject(new PermanentError('no luck')));
    await world.jobs.submit(work.create({}, { id: 'b' }));
    await runOnce(() => undefined);

    expect(world.log.of('attempt_settled')).toMatchObject([{ level: 'error', state: 'failed', ...isUnlucky('a') }]);
  });

  test('a retry runs in the executor that failed it, when it is due', async () => {
    const attempts: number[] = [];
    const succeeded = latch();
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          attempts.push(job.attempt);
          if (job.attempt === 1) throw new Error('once');
          succeeded.open();
        }),
      ],
      { pollInterval: '5m' },
      {
        settle: async call => {
          const answers = await call();
          clock.advance(10 * second);
          return answers;
        },
      },
    );

    await executor.start();
    await succeeded.opened;

    expect(attempts).toEqual([1, 2]);
  });

  test('the retry policy of a submission goes before that of its definition', async () => {
    await world.jobs.submit(work.create({}, { id: 'a', retry: false }));

    const job = await runOnce(() => Promise.reject(new Error('no')));

    expect(job).toMatchObject({ state: 'failed', failureReason: 'handler_error', attemptCount: 1 });
  });

  test('a PermanentError fails the job at once', async () => {
    await world.jobs.submit(work.create({}, { id: 'a' }));

    const job = await runOnce(() => Promise.reject(new PermanentError('card declined')));

    expect(job).toMatchObject({ state: 'failed', failureReason: 'permanent_error', attemptCount: 1 });
  });

  test('a RetryAfterError reschedules for the time that it names', async () => {
    await world.jobs.submit(work.create({}, { id: 'a' }));

    const job = await runOnce(() => Promise.reject(new RetryAfterError('2m')));

    expect(job).toMatchObject({ state: 'queued', failureReason: 'throttled', failureCount: 1 });
    expect(job.nextRunAt.getTime()).toBe(clock.now() / 1000 + 120 * second);
  });

  test('a SnoozeError brings the job back later, without a failure and without a start spent', async () => {
    await world.jobs.submit(work.create({}, { id: 'a', maxAttempts: 1 }));

    const job = await runOnce(() => Promise.reject(new SnoozeError('5m')));

    expect(job).toMatchObject({ state: 'queued', attemptCount: 1, attemptLimit: 2, failureCount: 0 });
    expect(job.nextRunAt.getTime()).toBe(clock.now() / 1000 + 300 * second);
  });

  test.each<[string, () => unknown]>([
    [
      'an Error, synchronously',
      () => {
        throw new Error('x');
      },
    ],
    ['undefined', () => Promise.reject(undefined)],
    [
      'null',
      () => {
        throw null;
      },
    ],
    ['a string', () => Promise.reject('x')],
    ['a symbol', () => Promise.reject(Symbol('x'))],
    ['an object without a prototype', () => Promise.reject(Object.create(null))],
    ['a proxy whose traps throw', () => Promise.reject(new Proxy({}, trapsThatThrow))],
    ['a function whose traps throw', () => Promise.reject(new Proxy(() => {}, trapsThatThrow))],
    [
      'an error that contains itself',
      () => {
        const e = new Error('x');
        e.cause = e;
        throw e;
      },
    ],
    [
      'an error whose message throws',
      () =>
        Promise.reject(
          Object.defineProperty(new Error(), 'message', {
            get() {
              throw new Error('x');
            },
          }),
        ),
    ],
    ['an error of 20 MB', () => Promise.reject(new Error('x'.repeat(20_000_000)))],
    [
      'by a thenable whose then throws',
      () => ({
        then() {
          throw new Error('x');
        },
      }),
    ],
    ['an AbortError of its own, with nothing aborted', () => Promise.reject(new DOMException('x', 'AbortError'))],
  ])('a handler that throws %s has failed, and is tried again', async (_, run) => {
    await world.jobs.submit(work.create({}, { id: 'a' }));

    const job = await runOnce(run);

    expect(job).toMatchObject({ state: 'queued', failureReason: 'handler_error', failureCount: 1 });
    expect(typeof job.lastError).toBe('string');
    expect(world.log.troubles).toEqual([]);
  });

  test.each(['throws', 'returns'])(
    'an attempt whose time is up fails as timed out, also when its handler then %s',
    async how => {
      const hasty = defineJob<object>()({ name: 'work', timeout: '20ms' });
      let why: unknown;
      await world.jobs.submit(hasty.create({}, { id: 'a' }));

      const job = await runOnce(async ({ signal }) => {
        await aborted(signal).catch(reason => (why = reason.why));
        if (how === 'throws') throw new Error('stopped half-way');
      }, hasty);

      expect(why).toBe('timed_out');
      expect(job).toMatchObject({ state: 'failed', failureReason: 'timeout', resultRef: null });
    },
  );

  test('the timeout of a submission goes before that of its definition', async () => {
    const slow = defineJob<object>()({ name: 'work', timeout: '10d' });
    await world.jobs.submit(slow.create({}, { id: 'a', timeout: '20ms' }));

    const job = await runOnce(({ signal }) => aborted(signal), slow);

    expect(job).toMatchObject({ state: 'failed', failureReason: 'timeout' });
  });

  test('a handler that ignores its timeout is not cut off: its job ends when it does', async () => {
    const hasty = defineJob<object>()({ name: 'work', timeout: '20ms' });
    const [timedOut, gate] = [latch(), latch()];
    await world.jobs.submit(hasty.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(hasty, async ({ signal }) => {
        signal.addEventListener('abort', () => timedOut.open());
        await gate.opened;
      }),
    ]);

    await executor.start();
    await timedOut.opened;
    expect((await world.job('a')).state).toBe('running');
    gate.open();
    await until(async () => (await world.job('a')).state === 'failed');

    expect((await world.job('a')).failureReason).toBe('timeout');
  });
});

const trapsThatThrow: ProxyHandler<object> = {
  get() { throw new Error('trap'); },
  has() { throw new Error('trap'); },
  getPrototypeOf() { throw new Error('trap'); },
}; // prettier-ignore
