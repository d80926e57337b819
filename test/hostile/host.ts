import { describe } from '@jest/globals';
import type { JobsEvent } from '../../src/core/events.ts';
import type { RegisteredHandler } from '../../src/core/handler.ts';
import type { JobMiddleware } from '../../src/core/middleware.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { MemoryJobs } from '../../src/memory/index.ts';
import { Log } from '../executor/support/log.ts';
import { createOrm, drivers, dropOrm, type Driver } from '../support/orm.ts';

export type StoreKind = Driver | 'memory';

/** A host application on a store of its own. */
export interface Host {
  /** In memory it has no `stage()`; nothing else differs here. */
  readonly jobs: Jobs;
  readonly log: Log;
  /** What was told since the host was made. */
  readonly events: readonly JobsEvent[];
  /** Every statement that its ORM has sent. */
  readonly statements: readonly string[];
  close(): Promise<void>;
}

export function forEachStore(define: (kind: StoreKind) => void): void {
  describe.each<StoreKind>([...drivers, 'memory'])('on %s', define);
}

export async function openHost(kind: StoreKind): Promise<Host> {
  const log = new Log();
  const events: JobsEvent[] = [];
  const statements: string[] = [];
  const { jobs, close } = kind === 'memory' ? inMemory(log) : await onDatabase(kind, log, statements);
  jobs.events.subscribe(event => void events.push(event));

  return { jobs, log, events, statements, close };
}

/** Runs what is due until the executor has told of so many ended attempts, then stops. */
export async function runAll(
  { jobs }: Host,
  handlers: ReadonlyArray<RegisteredHandler<never>>,
  attempts: number,
  middleware: ReadonlyArray<JobMiddleware<never>> = [],
): Promise<void> {
  let settled = 0;
  let allSettled!: () => void;
  const done = new Promise<void>(resolve => (allSettled = resolve));
  const end = jobs.events.subscribe(({ event }) => {
    if (event === 'attempt_settled' && ++settled === attempts) allSettled();
  });
  const executor = jobs.executor({ handlers, middleware, concurrency: 1000, lease: false });

  await executor.start();
  await done;
  await executor.stop();
  end();
}

function inMemory(logger: Log): { jobs: Jobs; close: () => Promise<void> } {
  return { jobs: new MemoryJobs({ logger }) as unknown as Jobs, close: () => Promise.resolve() };
}

async function onDatabase(driver: Driver, logger: Log, statements: string[]) {
  const orm = await createOrm(driver, jobEntities, {
    debug: ['query'],
    colors: false,
    logger: message => void statements.push(message),
    ...(driver === 'postgresql' && { pool: { min: 0, max: 20 } }),
  });

  return { jobs: new Jobs({ orm, logger, notifications: false }) as Jobs, close: () => dropOrm(orm) };
}
