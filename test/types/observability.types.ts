// What events, traces, middleware, health and signals are typed as. Compiled by both type checks, never run.
import type {
  AbortWhy,
  AttemptAbortedError,
  EventName,
  ExecutorOptions,
  FailureReason,
  Health,
  HealthStatus,
  JobMiddleware,
  JobsEvent,
  JobState,
  TraceContext,
} from '../../src/index.ts';
import { Jobs, MiddlewareError } from '../../src/index.ts';
import { MemoryJobs } from '../../src/memory/index.ts';
import { makeJobs, pgOrm, sendInvoice, sendInvoiceV1, type CoreEntityManager, type PgEntityManager } from './hosts.ts';
import { expectType } from './same-type.ts';

const { core, pg } = makeJobs();

export function events(): void {
  const end = pg.events.subscribe(event => {
    if (event.event === 'attempt_settled') {
      expectType<number>()(event.runMs);
      expectType<JobState>()(event.state);
      expectType<FailureReason | null>()(event.failureReason);
      expectType<Date | null>()(event.nextRunAt);
    } else if (event.event === 'attempt_started') {
      expectType<number>()(event.waitMs);
      // @ts-expect-error it has not ended
      void event.runMs;
    } else if (event.event === 'job_resolved') {
      expectType<'queued' | 'cancelled'>()(event.state);
    } else if (event.event === 'job_resurrected') {
      expectType<string | null>()(event.actor);
    } else if (event.event === 'executors_lapsed') {
      event.lapsed.forEach(id => id.length);
    } else if (event.event === 'loop_failed') {
      expectType<unknown>()(event.error);
    }

    // @ts-expect-error no event has this name
    return void (event.event === 'attempt_begun');
  });
  end();
  new MemoryJobs().events.subscribe(async ({ event }) => void (event satisfies EventName));
  const settled = {} as JobsEvent<'attempt_settled'>;
  expectType<'attempt_settled'>()(settled.event);

  // @ts-expect-error hosts listen, the library tells
  pg.events.emit(settled);
  // @ts-expect-error a listener is a function
  pg.events.subscribe('attempt_settled');
  // @ts-expect-error events are read-only
  settled.id = 'b';
}

export function traces(context: TraceContext): void {
  new Jobs({ orm: pgOrm, trace: () => context });
  new Jobs({ orm: pgOrm, trace: () => undefined });
  sendInvoiceV1.create({ id: 1 }, { trace: context });
  sendInvoiceV1.create({ id: 1 }, { trace: { traceParent: '', traceState: '' }, id: 'a' });
  pg.handler(sendInvoice, async job => {
    expectType<TraceContext | null>()(job.trace);
    await pg.submit(sendInvoiceV1.create({ id: 1 }, { trace: job.trace }));
  });

  // @ts-expect-error a context has its parent
  sendInvoiceV1.create({ id: 1 }, { trace: { traceState: 'a=1' } });
  // @ts-expect-error the hook answers at once
  new Jobs({ orm: pgOrm, trace: async () => context });
}

export function middleware(): void {
  const anywhere: JobMiddleware<CoreEntityManager> = async (job, next) => {
    expectType<unknown>()(job.payload);
    expectType<AbortSignal>()(job.signal);
    // @ts-expect-error only its handler reports progress
    job.progress(10);
    // @ts-expect-error only its handler settles it
    await job.transactional(async () => {});
    return next();
  };
  const onPg: JobMiddleware<PgEntityManager> = async (job, next) => {
    await job.em.execute('select 1');
    const result = await next();
    expectType<string | void>()(result);
  };

  const handlers = [pg.handler(sendInvoice, () => {})];
  pg.executor({ handlers, middleware: [anywhere, onPg, (job, next) => (job.em satisfies PgEntityManager, next())] });
  core.executor({ handlers, middleware: [anywhere] });
  const options: ExecutorOptions = { handlers, middleware: [anywhere] };
  pg.executor(options);
  new MemoryJobs().executor({ handlers: [], middleware: [(job, next) => (job.em satisfies undefined, next())] });
  expectType<'MIDDLEWARE'>()(new MiddlewareError('x').code);

  // @ts-expect-error a middleware answers a promise
  pg.executor({ handlers, middleware: [() => 'ref'] });
  // @ts-expect-error what it answers is a result reference
  pg.executor({ handlers, middleware: [async () => 5] });
}

export async function health(): Promise<void> {
  const answer = await pg.health({ maxLag: { mail: '1m' }, timeout: 500 });
  expectType<Health>()(answer);
  expectType<HealthStatus>()(answer.status);
  expectType<string | null>()(answer.checks.storage.problem);
  answer.checks.executors.active.forEach(({ leaseLeftMs }) => expectType<number | null>()(leaseLeftMs));
  answer.checks.queues.behind.forEach(({ lagMs, maxLagMs }) => [lagMs satisfies number, maxLagMs satisfies number | null]);
  await new MemoryJobs().health({ maxLag: '1m' });

  // @ts-expect-error a duration has a unit
  await pg.health({ maxLag: '1 minute' });
} // prettier-ignore

export function signals(): void {
  const executor = pg.executor({ handlers: [pg.handler(sendInvoice, () => {})] });
  const takeBack = executor.stopOnSignals();
  expectType<void>()(takeBack());
  executor.stopOnSignals(['SIGTERM', 'SIGHUP']);

  // @ts-expect-error no such signal
  executor.stopOnSignals(['SIGNONE']);
  expectType<AbortWhy>()(({} as AttemptAbortedError).why);
}
