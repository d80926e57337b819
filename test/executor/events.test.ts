import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { EventStream } from '../../src/core/event-stream.ts';
import { PermanentError, SnoozeError } from '../../src/core/handler-errors.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { Heard } from './support/heard.ts';
import { aborted, latch } from './support/latch.ts';
import { ManualClock } from './support/manual-clock.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work', version: '2', queue: 'slow', maxAttempts: 3 });
const ofA = { scope: '', id: 'a', name: 'work', version: '2', queue: 'slow', attempt: 1 };

forEachDriver(driver => {
  let world: World;
  let heard: Heard;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock();
    world = await World.open(driver, { clock });
    heard = new Heard(world.events);
  });
  afterEach(() => world.close());

  test('an attempt is told of when it starts and when its outcome is stored, with how long it waited and ran', async () => {
    const due = new Date(clock.now() / 1000 + 1000);
    await world.jobs.submit(work.create({}, { id: 'a', notBefore: due }));
    clock.advance(1250);
    const executor = world.executor([
      world.jobs.handler(work, () => {
        expect(heard.of('attempt_settled')).toEqual([]);
        clock.advance(40);
      }),
    ]);

    await executor.start();
    const [settled] = await heard.until('attempt_settled');
    expect((await world.job('a')).state).toBe('succeeded');
    await executor.stop();

    const { executorId } = heard.of('executor_started')[0]!;
    expect(heard.all).toEqual([
      { event: 'executor_started', executorId, name: expect.any(String), recovered: 0, connections: driver === 'sqlite' ? null : 12 },
      { event: 'attempt_started', ...ofA, executorId, waitMs: 250 },
      {
        event: 'attempt_settled', ...ofA, outcome: 'succeeded', state: 'succeeded', failureReason: null, error: null, nextRunAt: null, waitMs: 250, runMs: 40,
      },
      { event: 'executor_stopped', executorId, recovered: 0, unsettled: 0 },
    ]); // prettier-ignore
    expect(JSON.stringify(settled)).not.toContain('token');
  });

  test.each([
    {
      title: 'throws',
      run: () => Promise.reject(new Error('busy')),
      told: { outcome: 'rescheduled', state: 'queued', failureReason: 'handler_error', error: expect.stringContaining('busy') as unknown, nextRunAt: expect.any(Date) as unknown },
    },
    {
      title: 'throws a PermanentError',
      run: () => Promise.reject(new PermanentError('never')),
      told: { outcome: 'failed', state: 'failed', failureReason: 'permanent_error', error: expect.stringContaining('never') as unknown, nextRunAt: null },
    },
    {
      title: 'snoozes',
      run: () => Promise.reject(new SnoozeError(60_000)),
      told: { outcome: 'snoozed', state: 'queued', failureReason: null, error: null, nextRunAt: expect.any(Date) as unknown },
    },
    {
      title: 'returns after a cancel that came first',
      run: (cancel: () => Promise<unknown>) => cancel().then(() => 'ref'),
      told: { outcome: 'succeeded', state: 'cancelled', nextRunAt: null },
    },
  ])('a handler that $title is told of by its outcome and the state of its job', async ({ run, told }) => {
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(work, async () => {
        await run(() => world.jobs.scope('').cancel('a'));
      }),
    ]);
    await executor.start();

    expect(await heard.until('attempt_settled')).toEqual([expect.objectContaining({ ...ofA, ...told })]);
  }); // prettier-ignore

  test('a retry that a cancel of elsewhere came before has no next start', async () => {
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(work, async () => {
        await world.orm.em.execute('update durable_job set cancel_requested_at = 1');
        throw new Error('busy');
      }),
    ]);
    await executor.start();

    expect(await heard.until('attempt_settled')).toMatchObject([
      { outcome: 'rescheduled', state: 'cancelled', nextRunAt: null },
    ]);
  });

  test('an attempt that settles in its own transaction is told of after the commit, and once', async () => {
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(work, async job => {
        await job.transactional(async () => {
          clock.advance(30);
          expect(heard.of('attempt_settled')).toEqual([]);
        });
        expect(heard.of('attempt_settled')).toHaveLength(1);
        clock.advance(500);
      }),
    ]);
    await executor.start();
    await heard.until('attempt_settled');
    await executor.stop();

    expect(heard.of('attempt_settled')).toMatchObject([{ ...ofA, state: 'succeeded', runMs: 30 }]);
  });

  test('progress is told of when it is stored, and what a cancel came before is not', async () => {
    const gate = latch();
    const stored: unknown[] = [];
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async job => {
          job.progress(40, 'writing');
          await until(() => stored.length === 1);
          await world.orm.em.execute('update durable_job set cancel_requested_at = 1');
          job.progress(60);
          await aborted(job.signal).catch(() => {});
          gate.open();
        }),
      ],
      { progressInterval: '10ms', renewEvery: '5m' },
    );
    world.events.subscribe(async ({ event }) => {
      if (event === 'attempt_progressed') stored.push(await world.job('a'));
    });
    await executor.start();
    await gate.opened;
    await executor.stop();

    expect(heard.of('attempt_progressed')).toEqual([
      { event: 'attempt_progressed', ...ofA, progress: 40, message: 'writing' },
    ]);
    expect(stored).toMatchObject([{ progress: 40, progressMessage: 'writing' }]);
  });

  test('nothing is told of a transaction of a handler that was rolled back', async () => {
    await world.jobs.submit(work.create({}, { id: 'a', retry: false }));
    const executor = world.executor([
      world.jobs.handler(work, job => job.transactional(() => Promise.reject(new Error('x')))),
    ]);
    await executor.start();

    expect(await heard.until('attempt_settled')).toMatchObject([{ outcome: 'failed', state: 'failed' }]);
  });

  test('an attempt that was recovered elsewhere is told of as lost, and not as settled', async () => {
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(work, async () => {
        const running = await world.jobs.store.running({ limit: 1 });
        await world.jobs.store.recover(running, { requeue: 'never', reason: 'shutdown' });
      }),
    ]);
    await executor.start();

    expect(await heard.until('attempt_lost')).toEqual([{ event: 'attempt_lost', ...ofA }]);
    await executor.stop();
    expect(heard.of('attempt_settled')).toEqual([]);
  });

  test('what a stop cuts short is told of as recovered', async () => {
    const began = latch();
    await world.jobs.submit(work.create({}, { id: 'a', onInterrupt: 'requeue' }));
    const executor = world.executor(
      [
        world.jobs.handler(work, async ({ signal }) => {
          began.open();
          await aborted(signal);
        }),
      ],
      { drainTimeout: 0, abortGrace: '5m' },
    );
    await executor.start();
    await began.opened;
    await executor.stop();

    expect(heard.of('attempt_recovered')).toEqual([
      { event: 'attempt_recovered', ...ofA, state: 'queued', failureReason: 'shutdown' },
    ]);
    expect(heard.of('attempt_settled')).toEqual([]);
  });

  test('what a killed process left running is told of as recovered, at the start and when a lease is over', async () => {
    await world.jobs.store.register({ id: 'killed', name: 'k', host: 'h', leaseUntil: null, metadata: {} });
    await world.jobs.submit(work.create({}, { id: 'a' }));
    await world.jobs.store.tryStart({ scope: '', id: 'a' }, 'killed');
    const handlers = [world.jobs.handler(defineJob<object>()({ name: 'other' }), () => {})];
    await world.executor(handlers).start();

    expect(heard.of('attempt_recovered')).toEqual([
      { event: 'attempt_recovered', ...ofA, state: 'interrupted', failureReason: 'instance_restart' },
    ]);

    const leaseUntil = clock.now() + 1_000_000;
    await world.jobs.store.register({ id: 'paused', name: 'p', host: 'h', leaseUntil, metadata: {} });
    await world.jobs.submit(work.create({}, { id: 'b', onInterrupt: 'requeue' }));
    await world.jobs.store.tryStart({ scope: '', id: 'b' }, 'paused');
    clock.advance(1000);
    await world.executor(handlers, { lease: '60s' }).start();

    expect(heard.of('executors_lapsed')).toEqual([{ event: 'executors_lapsed', lapsed: ['paused'] }]);
    expect(heard.of('attempt_recovered')[1]).toEqual({
      event: 'attempt_recovered', ...ofA, id: 'b', state: 'queued', failureReason: 'lease_lapsed',
    }); // prettier-ignore
  });

  test('what was claimed in vain is told of as released', async () => {
    const [claimed, gate] = [latch(), latch()];
    await world.jobs.submit(work.create({}, { id: 'a' }));
    const executor = world.executor(
      [world.jobs.handler(work, () => {})],
      {},
      {
        claim: async call => {
          const answer = await call();
          claimed.open();
          await gate.opened;
          return answer;
        },
      },
    );
    await executor.start();
    await claimed.opened;
    const stopped = executor.stop();
    gate.open();
    await stopped;

    expect(heard.of('attempt_released')).toEqual([{ event: 'attempt_released', ...ofA }]);
    expect(heard.of('attempt_started')).toEqual([]);
  });

  test('a loop that fails is told of once, and again when it works', async () => {
    let isBroken = true;
    const error = new Error('no database');
    const executor = world.executor(
      [world.jobs.handler(work, () => {})],
      { pollInterval: 10 },
      { claim: call => (isBroken ? Promise.reject(error) : call()) },
    );
    await executor.start();
    await heard.until('loop_failed');
    isBroken = false;
    await heard.until('loop_recovered');

    expect(heard.of('loop_failed')).toEqual([{ event: 'loop_failed', loop: 'claim', error }]);
    expect(heard.of('loop_recovered')).toEqual([{ event: 'loop_recovered', loop: 'claim' }]);
    expect(world.log.of('claim_failed')).toHaveLength(1);
  });

  test('a recurring job that fires is told of', async () => {
    const executor = world.jobs.executor({ handlers: [world.jobs.handler(work, () => {})], lease: false });
    const told = new Heard(world.jobs.events);
    await world.jobs.recurring.upsert('nightly', { cron: '0 3 * * *', job: work.create({}) });
    clock.advance(24 * 3_600_000);
    await executor.start();
    await told.until('attempt_settled');
    await executor.stop();

    expect(told.of('recurring_fired')).toEqual([
      { event: 'recurring_fired', scope: '', id: 'nightly', created: 1, skipped: 0 },
    ]);
    expect(told.of('attempt_started')).toHaveLength(1);
  });

  test('where nobody listens nothing is told of every job', async () => {
    const told: string[] = [];
    const unheard: Pick<EventStream, 'isHeard' | 'hears' | 'emit'> = {
      isHeard: false,
      hears: () => false,
      emit: ({ event }) => void told.push(event),
    };
    let runs = 0;
    const executor = world.executor([
      world.jobs.handler(work, async job => {
        runs++;
        job.progress(50);
        if (job.id === 'a') await until(async () => (await world.job('a')).progress === 50);
        if (job.id === 'b') await job.transactional(async () => {});
      }),
    ], { progressInterval: '10ms' }, {}, unheard as EventStream); // prettier-ignore
    await world.jobs.submit([work.create({}, { id: 'a' }), work.create({}, { id: 'b' })]);

    await executor.start();
    await until(async () => (await world.job('a')).state === 'succeeded' && runs === 2);
    await executor.stop();

    expect(told).toEqual(['executor_started', 'executor_stopped']);
  });
});
