import { afterAll, beforeAll } from '@jest/globals';
import type { Attempt, AttemptRef, Progress, Settlement } from '../../../src/core/attempt.ts';
import type { FailureReason } from '../../../src/core/failure-reason.ts';
import type { JobKey } from '../../../src/core/job-key.ts';
import { scopeHash } from '../../../src/core/scope.ts';
import type { JobState } from '../../../src/core/states.ts';
import type { Submission } from '../../../src/core/submission.ts';
import type { Micros } from '../../../src/core/time.ts';
import { aSubmission, type SubmissionGiven, type TestJobs } from '../../support/builders.ts';
import type { TestOrm } from '../../support/orm.ts';

export type StoredRow = Readonly<Record<string, string | number | null>>;

export interface Stored {
  readonly job: StoredRow | undefined;
  readonly attempts: readonly StoredRow[];
}

/** Jobs that are stored and due. */
export async function dueJobs({ store, clock }: TestJobs, submissions: readonly Submission[]): Promise<void> {
  await store.submit(submissions);
  clock.advance(1000);
}

export async function aDueJob(on: TestJobs, given: SubmissionGiven = {}): Promise<JobKey> {
  const submission = aSubmission(given);
  await dueJobs(on, [submission]);

  return keyOf(submission);
}

/** A job that runs, as the attempt that owns it. */
export async function aRunningJob(on: TestJobs, given: SubmissionGiven = {}): Promise<Attempt> {
  return start(on, await aDueJob(on, given));
}

export async function someRunningJobs(on: TestJobs, count: number, given: SubmissionGiven = {}): Promise<Attempt[]> {
  await dueJobs(
    on,
    Array.from({ length: count }, () => aSubmission(given)),
  );
  const { attempts } = await on.store.claim({
    executorId: 'executor-1',
    definitions: [given.definition ?? { name: 'mail.send', version: '1' }],
    queues: null,
    limit: count,
  });

  return attempts;
}

/** Starts a job that can be started. */
export async function start({ store, clock }: TestJobs, key: JobKey): Promise<Attempt> {
  clock.advance(1000);
  const attempt = await store.tryStart(key, 'executor-1');
  if (attempt === null) throw new Error(`${key.id} could not be started`);

  return attempt;
}

/** A job in a state that its life brought it to; `awaiting` is set by hand, as nothing makes it yet. */
export async function aJobIn(on: TestJobs, state: JobState, given: SubmissionGiven = {}): Promise<JobKey> {
  const { store } = on;

  switch (state) {
    case 'awaiting': {
      const key = await aDueJob(on, given);
      await setColumns(on.orm, key, { state });
      return key;
    }
    case 'queued':
      return aDueJob(on, given);
    case 'running':
      return keyOf(await aRunningJob(on, given));
    case 'succeeded':
    case 'failed':
    case 'interrupted': {
      const attempt = await aRunningJob(on, given);
      await store.settle([state === 'succeeded' ? succeeded(attempt) : ended(attempt, state)]);
      return keyOf(attempt);
    }
    case 'cancelled': {
      const attempt = await aRunningJob(on, given);
      await store.cancel(keyOf(attempt), {});
      await store.settle([succeeded(attempt)]);
      return keyOf(attempt);
    }
  }
}

/** What of a settlement a test may say. */
type Given = Partial<{
  progress: Progress;
  resultRef: string | null;
  failureReason: FailureReason;
  error: string | null;
  nextRunAt: Micros;
}>;

export function succeeded(attempt: AttemptRef, given: Pick<Given, 'progress' | 'resultRef'> = {}): Settlement {
  return { ...refOf(attempt), progress: null, outcome: 'succeeded', resultRef: 'mail/1', ...given };
}

export function ended(
  attempt: AttemptRef,
  outcome: 'failed' | 'interrupted',
  given: Pick<Given, 'progress' | 'failureReason' | 'error'> = {},
): Settlement {
  return {
    ...refOf(attempt),
    progress: null,
    outcome,
    failureReason: outcome === 'failed' ? 'permanent_error' : 'shutdown',
    error: 'no such mailbox',
    ...given,
  };
}

export function rescheduled(attempt: AttemptRef, given: Omit<Given, 'resultRef'> = {}): Settlement {
  return {
    ...refOf(attempt),
    progress: null,
    outcome: 'rescheduled',
    nextRunAt: 0,
    failureReason: 'handler_error',
    error: 'mailbox busy',
    ...given,
  };
}

export function snoozed(attempt: AttemptRef, given: Pick<Given, 'progress' | 'nextRunAt'> = {}): Settlement {
  return { ...refOf(attempt), progress: null, outcome: 'snoozed', nextRunAt: 0, ...given };
}

/** One settlement of every outcome. */
export const outcomes: Readonly<Record<Settlement['outcome'], (attempt: AttemptRef) => Settlement>> = {
  succeeded,
  failed: attempt => ended(attempt, 'failed'),
  interrupted: attempt => ended(attempt, 'interrupted'),
  rescheduled,
  snoozed,
};

/** What the tables hold of a job, column for column. */
export async function stored({ orm }: Pick<TestJobs, 'orm'>, { scope, id }: JobKey): Promise<Stored> {
  const read = async (sql: string) => {
    return (await orm.em.fork().execute(sql, [scopeHash(scope), id])) as Record<string, string | number | null>[];
  };
  const [job] = await read('select * from durable_job where scope_hash = ? and id = ?');
  const attempts = await read('select * from durable_job_attempt where scope_hash = ? and job_id = ? order by ordinal');

  return { job: job && withNumbers(job), attempts: attempts.map(withNumbers) };
}

export async function countJobs({ orm }: Pick<TestJobs, 'orm'>, state?: JobState): Promise<number> {
  const where = state === undefined ? '' : `where state = '${state}'`;
  const [row] = await orm.em.fork().execute(`select count(*) as count from durable_job ${where}`);

  return Number(row!.count);
}

/** Brings a row to where no call of the store would. */
export async function setColumns(orm: TestOrm, { scope, id }: JobKey, columns: StoredRow): Promise<void> {
  const assignments = Object.keys(columns).map(column => `${column} = ?`);

  await orm.em
    .fork()
    .execute(`update durable_job set ${assignments.join(', ')} where scope_hash = ? and id = ?`, [
      ...Object.values(columns),
      scopeHash(scope),
      id,
    ]);
}

export async function deleteAttempts(orm: TestOrm, { scope, id }: JobKey): Promise<void> {
  const where = [scopeHash(scope), id];
  await orm.em.fork().execute('delete from durable_job_attempt where scope_hash = ? and job_id = ?', where);
}

export function keyOf({ scope, id }: JobKey): JobKey {
  return { scope, id };
}

export function refOf({ scope, id, attempt, token }: AttemptRef): AttemptRef {
  return { scope, id, attempt, token };
}

const bigints = /_at$|_until$|_before$/;

/** PostgreSQL's driver gives a bigint as text. */
function withNumbers(row: Record<string, string | number | null>): StoredRow {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value !== null && bigints.test(column) ? Number(value) : value,
    ]),
  );
}

/** Takes the rule of queued jobs from the table, to see that statements keep it by themselves. */
export function withoutChecks(on: TestJobs): void {
  const name = 'durable_job_queued_check';
  let definition: string;

  beforeAll(async () => {
    if (on.driver === 'sqlite') {
      await on.orm.em.execute('pragma ignore_check_constraints = on');
      return;
    }
    const [row] = await on.orm.em.execute(
      'select pg_get_constraintdef(oid) as definition from pg_constraint where conname = ?',
      [name],
    );
    definition = row!.definition;
    await on.orm.em.execute(`alter table durable_job drop constraint ${name}`);
  });

  afterAll(async () => {
    if (on.driver === 'sqlite') {
      await on.orm.em.execute('pragma ignore_check_constraints = off');
      return;
    }
    await on.orm.em.execute('delete from durable_job');
    await on.orm.em.execute(`alter table durable_job add constraint ${name} ${definition}`);
  });
}
