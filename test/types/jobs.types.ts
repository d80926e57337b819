// What Jobs takes and answers, for each EntityManager. Compiled by both type checks, never run.
import {
  Jobs,
  type AttemptSnapshot,
  type BulkAnswer,
  type CancelAnswer,
  type Clock,
  type Control,
  type JobCounts,
  type JobPage,
  type JobSnapshot,
  type JobState,
  type JobStore,
  type Logger,
  type RecurringControl,
  type ResurrectAnswer,
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
  void (true satisfies SameType<
    RetryAnswer,
    'queued' | 'awaiting' | 'no_starts_left' | 'not_finished' | 'succeeded' | 'parents_not_succeeded' | 'not_found'
  >);
  void (true satisfies SameType<RunNowAnswer, 'due' | 'not_queued' | 'not_found'>);
  // @ts-expect-error which scope?
  await jobs().scope().get('a');
  // @ts-expect-error control is of a scope
  await jobs().cancel('a');
  // @ts-expect-error a reason is text
  await acme.cancel('a', { reason: 5 });
  // @ts-expect-error a time is a Date
  await acme.retry('a', { at: '2026-01-01' });
  expectType<ResurrectAnswer>()(
    await acme.resurrect('a', { repaired: submission, priority: 1, queue: 'slow', actor: 'ann' }),
  );
  // @ts-expect-error a payload alone was validated by nobody
  await acme.resurrect('a', { repaired: { invoiceId: '1' } });
}

export async function recurring(): Promise<void> {
  await jobs().recurring.upsert('close-eu', {
    cron: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    missed: 'one',
    overlap: 'skip',
    job: submission,
  });
  await jobs()
    .scope('acme')
    .recurring.upsert('hourly', { cron: '0 * * * *', job: submission, missed: { upTo: 3 } });
  expectType<RecurringControl>()(jobs().recurring);
  expectType<string[]>()(await jobs().recurring.replaceAll({ 'close-eu': { cron: '0 3 * * *', job: submission } }));
  expectType<boolean>()(await jobs().recurring.pause('close-eu'));
  expectType<JobSnapshot | null>()(await jobs().recurring.runNow('close-eu'));
  // @ts-expect-error no job
  await jobs().recurring.upsert('close-eu', { cron: '0 3 * * *' });
  // @ts-expect-error a definition is no submission
  await jobs().recurring.upsert('close-eu', { cron: '0 3 * * *', job: sendInvoice });
  // @ts-expect-error not a word for what was missed
  await jobs().recurring.upsert('close-eu', { cron: '0 3 * * *', job: submission, missed: 'all' });
  // @ts-expect-error nor for an overlap
  await jobs().recurring.upsert('close-eu', { cron: '0 3 * * *', job: submission, overlap: 'replace' });
}

export async function operating(): Promise<void> {
  const { admin, queues } = jobs();
  await queues.limit('mail', 5, { actor: 'ann' });
  await queues.limit('mail', null);
  await queues.pause('mail');
  expectType<JobPage>()(await admin.list({ states: ['failed'] }, { limit: 10 }));
  expectType<JobCounts>()(await admin.counts());
  const { deadLetters } = jobs();
  expectType<BulkAnswer>()(
    await deadLetters.resurrect({ reason: ['timeout'] }, { limit: 500, actor: 'ann', preview: true }),
  );
  expectType<JobPage>()(await deadLetters.list({ includeInterrupted: true }, { limit: 10 }));
  expectType<number | undefined>()((await deadLetters.count({ scope: 'acme' })).timeout);
  // @ts-expect-error no reason of ours
  await deadLetters.count({ reason: ['bad luck'] });
  // @ts-expect-error how many at most?
  await deadLetters.purge({ reason: ['timeout'] }, { actor: 'ann' });
  // @ts-expect-error a scope's dead letters can't be another one's
  await jobs().scope('acme').deadLetters.count({ scope: 'other' });
  jobs().executor({ handlers: [], retention: { succeeded: '7d', failed: false } });
  // @ts-expect-error no state that ends
  jobs().executor({ handlers: [], retention: { queued: '7d' } });
  // @ts-expect-error how many at most?
  await admin.cancelAll({ queues: ['mail'] }, {});
  // @ts-expect-error no state of ours
  await admin.list({ states: ['stuck'] });
  // @ts-expect-error a scope's reads can't name another one
  await jobs().scope('acme').list({ scope: 'other' });
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
