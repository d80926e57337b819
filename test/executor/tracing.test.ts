import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AsyncLocalStorage } from 'node:async_hooks';
import { defineJob } from '../../src/core/definition.ts';
import type { TraceContext } from '../../src/core/trace-context.ts';
import { Jobs } from '../../src/jobs.ts';
import { MemoryJobs } from '../../src/memory/memory-jobs.ts';
import { forEachDriver } from '../support/orm.ts';
import { Heard } from './support/heard.ts';
import { Log } from './support/log.ts';
import { ManualClock } from './support/manual-clock.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work' });
const active = new AsyncLocalStorage<TraceContext>();
const [request, another, own] = ['1', '2', '3'].map(digit => ({
  traceParent: `00-${digit.repeat(32)}-b7ad6b7169203331-01`,
  traceState: `vendor=${digit}`,
})) as [TraceContext, TraceContext, TraceContext];

forEachDriver(driver => {
  let world: World;
  let jobs: Jobs<EntityManager>;
  let log: Log;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock();
    world = await World.open(driver, { clock });
    log = new Log();
    jobs = new Jobs({ orm: world.orm, clock, logger: log, notifications: false, trace: () => active.getStore() });
  });
  afterEach(() => world.close());

  test('a handler has the trace context that was active where its job was staged, submitted, or put into a unit of work', async () => {
    await active.run(request, async () => {
      await world.orm.em.fork().transactional(em => jobs.stage(em, work.create({}, { id: 'staged' })));
      await Promise.all([jobs.submit(work.create({}, { id: 'submitted' })), jobs.submit(work.create({}, { metadata: { id: 'joint' } }))]);
      await jobs.submit([work.create({}, { id: 'batch' }), work.create({}, { id: 'own', trace: own })]);
      await jobs.unitOfWork.execute(({ stage }) => stage(work.create({}, { id: 'unit' })));
    });
    await jobs.submit(work.create({}, { id: 'none' }));

    expect(await tracesOf(7)).toEqual({
      staged: request, submitted: request, joint: request, batch: request, unit: request, own, none: null,
    });
  }); // prettier-ignore

  test('a stored job keeps the trace of the request that made it', async () => {
    const submission = work.create({}, { id: 'a' });
    await active.run(request, () => jobs.submit(submission));
    const again = await active.run(another, () => jobs.submit(submission));

    expect(again).toMatchObject({ created: false, matched: 'identity' });
    expect(await tracesOf(1)).toEqual({ a: request });
  });

  test('a continuation has the trace of where it was staged, not that of its parent', async () => {
    const parent = work.create({}, { id: 'parent' });
    await active.run(request, () => jobs.submit(parent));
    await active.run(another, () => jobs.submit(work.create({}, { id: 'child', after: [parent] })));

    expect(await tracesOf(2)).toEqual({ parent: request, child: another });
  });

  test('a recurring job’s occurrences have none, wherever it was set up and whoever fires them', async () => {
    await active.run(request, async () => {
      await jobs.recurring.upsert('nightly', {
        cron: '0 3 * * *',
        job: work.create({}, { metadata: { id: 'nightly' } }),
      });
    });
    clock.advance(24 * 3_600_000);

    expect(await active.run(request, () => tracesOf(1))).toEqual({ nightly: null });
  });

  test('a handler keeps no context of who woke its executor: what it stages has that of its own code', async () => {
    const heard = new Heard(jobs.events);
    const executor = jobs.executor({
      handlers: [jobs.handler(work, async job => {
        traces[job.id] = job.trace;
        if (job.id === 'first') {
          await jobs.submit(work.create({}, { id: 'bare' }));
          await active.run(job.trace!, () => jobs.submit(work.create({}, { id: 'followed' })));
        }
      })],
      lease: false,
    }); // prettier-ignore
    const traces: Record<string, TraceContext | null> = {};
    await executor.start();
    await active.run(request, () => jobs.submit(work.create({}, { id: 'first' })));
    await heard.until('attempt_settled', 3);
    await executor.stop();

    expect(traces).toEqual({ first: request, bare: null, followed: request });
  });

  test('a hook that throws costs no job', async () => {
    const broken = () => {
      throw new Error('no tracer');
    };
    jobs = new Jobs({ orm: world.orm, clock, logger: log, notifications: false, trace: broken });
    await jobs.submit(work.create({}, { id: 'a' }));
    await jobs.submit(work.create({}, { id: 'b' }));

    expect(await tracesOf(2)).toEqual({ a: null, b: null });
    expect(log.of('trace_failed')).toHaveLength(1);
  });

  /** Runs so many jobs; their traces by id, or by their label `id`. */
  async function tracesOf(count: number): Promise<Record<string, TraceContext | null>> {
    const traces: Record<string, TraceContext | null> = {};
    const heard = new Heard(jobs.events);
    const executor = jobs.executor({
      handlers: [jobs.handler(work, job => void (traces[job.metadata.id ?? job.id] = job.trace))],
      lease: false,
    });
    await executor.start();
    await heard.until('attempt_settled', count);
    await executor.stop();

    return traces;
  }
});

test('jobs in memory have traces and events as others do', async () => {
  const jobs = new MemoryJobs({ trace: () => active.getStore(), logger: new Log() });
  const heard = new Heard(jobs.events);
  const traces: Array<TraceContext | null> = [];
  const executor = jobs.executor({
    handlers: [jobs.handler(work, job => void traces.push(job.trace))],
    middleware: [(job, next) => (traces.push(job.trace), next())],
  });
  await active.run(request, () => jobs.submit(work.create({}, { id: 'a' })));
  await jobs.submit(work.create({}, { id: 'b', notBefore: new Date('2200-01-01') }));
  await jobs.scope('').cancel('b');
  await executor.start();
  await heard.until('attempt_settled');
  await executor.stop();

  expect(traces).toEqual([request, request]);
  expect(heard.all.map(({ event }) => event)).toEqual([
    'job_staged', 'job_staged', 'cancel_requested', 'executor_started', 'attempt_started', 'attempt_settled', 'executor_stopped',
  ]); // prettier-ignore
});
