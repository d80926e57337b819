import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/core/clock.ts';
import { defineJob, type AnyDefinition } from '../../src/core/definition.ts';
import type { JobQueries } from '../../src/core/queries.ts';
import type { ClaimRequest, ExecutorRegistration, JobStore } from '../../src/core/store.ts';
import type { Submission, SubmissionOptions } from '../../src/core/submission.ts';
import { microsOf, type Micros } from '../../src/core/time.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { createOrm, dbNameOf, dropOrm, openOrm, type CreateOptions, type Driver, type TestOrm } from './orm.ts';

export const sendMail = defineJob<unknown>()({ name: 'mail.send' });
export const buildReport = defineJob<unknown>()({ name: 'report.build', version: '2' });

/** Stands still until it is told to go on. */
export class ManualClock implements Clock {
  readonly #start: Micros;
  #now: Micros;

  constructor(start = new Date('2030-01-01T00:00:00Z')) {
    this.#start = this.#now = microsOf(start);
  }

  now(): Micros {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms * 1000;
  }

  set(now: Micros): void {
    this.#now = now;
  }

  reset(): void {
    this.#now = this.#start;
  }
}

export type SubmissionGiven = SubmissionOptions & {
  readonly definition?: AnyDefinition;
  readonly payload?: unknown;
  readonly id?: string;
  readonly notBefore?: Date;
};

/** One `mail.send` with an id of its own, unless something else is said. */
export function aSubmission(given: SubmissionGiven = {}): Submission {
  const { definition = sendMail, payload = {}, id = randomUUID(), ...options } = given;

  return definition.create(payload, { id, ...options });
}

export function someSubmissions(count: number, given: SubmissionGiven = {}): Submission[] {
  return Array.from({ length: count }, () => aSubmission(given));
}

/** Active and without a lease in every test: `executor-0` to `executor-15`. */
export const knownExecutors: readonly string[] = Array.from({ length: 16 }, (_, index) => `executor-${index}`);

/** For ten `mail.send` of every queue, unless something else is said. */
export function aClaim(request: Partial<ClaimRequest> = {}): ClaimRequest {
  return { executorId: 'executor-1', definitions: [sendMail], queues: null, limit: 10, ...request };
}

export function anExecutor(registration: Partial<ExecutorRegistration> = {}): ExecutorRegistration {
  return { id: randomUUID(), name: 'billing', host: 'alpha', leaseUntil: null, metadata: {}, ...registration };
}

/** `Jobs` on a database, with what tests reach it by. */
export interface TestJobs {
  readonly driver: Driver;
  readonly orm: TestOrm;
  readonly jobs: Jobs;
  readonly store: JobStore & JobQueries;
  readonly clock: ManualClock;
}

/** On a fresh database, with the known executors. Give its `orm` to `dropOrm` at the end. */
export async function createJobs(driver: Driver, options: CreateOptions = {}): Promise<TestJobs> {
  const on = jobsOn(driver, await createOrm(driver, jobEntities, options), new ManualClock());
  await registerExecutors(on.orm);

  return on;
}

/** As another process has them: an ORM and connections of its own on the database of `first`, and the same clock. */
export async function openJobs(
  { driver, orm, clock }: TestJobs,
  options: Omit<CreateOptions, 'file'> = {},
): Promise<TestJobs> {
  return jobsOn(driver, await openOrm(driver, jobEntities, { dbName: dbNameOf(orm), ...options }), clock);
}

/** `Jobs` on a database that the tests of a block share; each test finds no jobs, and the known executors. */
export function useJobs(driver: Driver, options: CreateOptions = {}): TestJobs {
  let current: TestJobs;
  beforeAll(async () => void (current = await createJobs(driver, options)));
  beforeEach(async () => {
    current.clock.reset();
    await deleteJobs(current.orm);
    await registerExecutors(current.orm);
  });
  afterAll(() => dropOrm(current.orm));

  return whenMade(driver, () => current);
}

/** `Jobs` that hooks make: to be named where tests are defined, and used where they run. */
export function whenMade(driver: Driver, made: () => TestJobs): TestJobs {
  return {
    driver,
    get orm() {
      return made().orm;
    },
    get jobs() {
      return made().jobs;
    },
    get store() {
      return made().store;
    },
    get clock() {
      return made().clock;
    },
  };
}

async function deleteJobs(orm: TestOrm): Promise<void> {
  for (const table of ['durable_job_dependency', 'durable_job_attempt', 'durable_job', 'durable_executor']) {
    await orm.em.fork().execute(`delete from ${table}`);
  }
}

/** Only an executor that is known and active may start jobs. */
async function registerExecutors(orm: TestOrm): Promise<void> {
  const rows = knownExecutors.map(id => `('${id}', 'billing', 'alpha', 'active', 1)`);

  await orm.em
    .fork()
    .execute(`insert into durable_executor (id, name, host, state, started_at) values ${rows.join(', ')}`);
}

function jobsOn(driver: Driver, orm: TestOrm, clock: ManualClock): TestJobs {
  const jobs = new Jobs({ orm, clock });

  return { driver, orm, jobs, store: jobs.store, clock };
}
