// What Jobs takes and answers, for each EntityManager. Compiled by both type checks, never run.
import {
  Jobs,
  type AttemptSnapshot,
  type CancelAnswer,
  type Clock,
  type Control,
  type JobSnapshot,
  type JobState,
  type JobStore,
  type Logger,
  type RetryAnswer,
  type RunNowAnswer,
  type StageResult,
} from '../../src/index.ts';
import {
  coreOrm,
  makeJobs,
  pgOrm,
  sendInvoice,
  sendInvoiceV1,
  type CoreEntityManager,
  type PgEntityManager,
  type SqliteEntityManager,
} from './hosts.ts';
import { expectType, type SameType } from './same-type.ts';

const jobs = () => makeJobs().pg;
const submission = sendInvoice.create({ invoiceId: 'x', due: new Date() });

export function entityManagers(): void {
  const { core, pg, sqlite } = makeJobs();
  // 7 adds a mark to the type of `orm.em`, so these are not the same type, but they fit.
  const ofPg: Jobs<PgEntityManager> = pg;
  const ofSqlite: Jobs<SqliteEntityManager> = sqlite;
  const ofAny: Jobs[] = [core, pg, sqlite, ofPg, ofSqlite];
  const operate = (given: Jobs) => given.scope('acme');
  ofAny.forEach(operate);
  void (true satisfies SameType<Jobs, Jobs<CoreEntityManager>>);
}

export function making(clock: Clock, logger: Logger): void {
  new Jobs({ orm: pgOrm, clock, logger, connectionTimeout: '10s', unitOfWork: { lease: '30s' } });
  new Jobs({ orm: coreOrm, clock: { now: () => 0 }, logger: { info() {}, warn() {}, error() {} } });
  // @ts-expect-error no ORM
  new Jobs({});
  // @ts-expect-error the ORM, not its EntityManager
  new Jobs({ orm: pgOrm.em });
  // @ts-expect-error an unknown option
  new Jobs({ orm: pgOrm, schema: 'jobs' });
  // @ts-expect-error no duration
  new Jobs({ orm: pgOrm, connectionTimeout: 'soon' });
}

export async function staging(sqliteEm: SqliteEntityManager): Promise<void> {
  await pgOrm.em.transactional(async em => {
    const one = await jobs().stage(em, submission);
    const several = await jobs().stage(em, [submission, sendInvoiceV1.create({ id: 1 }, { delay: '30s' })]);
    expectType<StageResult>()(one);
    expectType<StageResult[]>()(several);
  });
  // a repository's EntityManager, whichever driver's it is
  await jobs().stage(sqliteEm, submission);
  await jobs().stage(coreOrm.em, submission);
  // @ts-expect-error without an EntityManager
  await jobs().stage(submission);
  // @ts-expect-error the ORM is none
  await jobs().stage(pgOrm, submission);
  // @ts-expect-error a payload is no submission
  await jobs().stage(pgOrm.em, { invoiceId: 'x' });
  // @ts-expect-error a definition is no submission
  await jobs().stage(pgOrm.em, sendInvoice);
}

export async function submitting(): Promise<void> {
  const { job, created, matched } = await jobs().submit(submission);
  expectType<JobSnapshot>()(job);
  expectType<boolean>()(created);
  expectType<'none' | 'identity' | 'uniqueKey'>()(matched);
  expectType<StageResult[]>()(await jobs().submit([]));
  // @ts-expect-error a snapshot is for reading
  job.state = 'succeeded';
  // @ts-expect-error no payload in a snapshot
  void job.payload;
  // @ts-expect-error not in a transaction of the caller's
  await jobs().submit(pgOrm.em, submission);
}

export async function control(): Promise<void> {
  const acme: Control = jobs().scope('acme');
  expectType<JobSnapshot | null>()(await acme.get('a'));
  expectType<AttemptSnapshot[]>()(await acme.attempts('a'));
  expectType<CancelAnswer>()(await acme.cancel('a', { reason: 'withdrawn' }));
  expectType<RetryAnswer>()(await acme.retry('a', { at: new Date() }));
  expectType<RunNowAnswer>()(await acme.runNow('a'));
  void (true satisfies SameType<CancelAnswer, 'cancelled' | 'requested' | 'finished' | 'not_found'>);
  void (true satisfies SameType<RetryAnswer, 'queued' | 'no_starts_left' | 'not_finished' | 'succeeded' | 'not_found'>);
  void (true satisfies SameType<RunNowAnswer, 'due' | 'not_queued' | 'not_found'>);
  // @ts-expect-error which scope?
  await jobs().scope().get('a');
  // @ts-expect-error control is of a scope
  await jobs().cancel('a');
  // @ts-expect-error a reason is text
  await acme.cancel('a', { reason: 5 });
  // @ts-expect-error a time is a Date
  await acme.retry('a', { at: '2026-01-01' });
  // @ts-expect-error not yet a word of this release
  await acme.resurrect('a');
}

/** A switch over the states is closed: a state that is added breaks it at compile time. */
export function wordFor(state: JobState): string {
  switch (state) {
    case 'awaiting':
    case 'queued':
    case 'running':
      return 'active';
    case 'succeeded':
    case 'failed':
    case 'cancelled':
    case 'interrupted':
      return 'finished';
  }
}

/** A store of somebody else's is one when it has every member; it needs nothing of MikroORM. */
export function stores(given: JobStore, { settle: _, ...incomplete }: JobStore): void {
  const store: JobStore = { ...given, get: async () => null };
  // @ts-expect-error a member is missing
  const broken: JobStore = incomplete;
  void [store, broken, jobs().store satisfies JobStore];
}
