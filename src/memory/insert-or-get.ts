import type { CreationClock } from '../core/clock.ts';
import { JobIdentityConflictError, ParentNotFoundError } from '../core/errors.ts';
import type { JobKey } from '../core/job-key.ts';
import { differencesBetween, type RequestFields } from '../core/same-request.ts';
import type { Matched, StageResult } from '../core/snapshot.ts';
import type { Submission } from '../core/submission.ts';
import { dateOf } from '../core/time.ts';
import { keyOf, uniqueKeyOf } from './keys.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { refuseCircle } from '../core/refuse-circle.ts';
import { resolveJobs } from './resolve-jobs.ts';
import { snapshotOf } from './snapshots.ts';
import { newJob, type StoredJob } from './stored-job.ts';

/** Inserts submissions, or gets what holds their identities and unique keys; answers by position. To be called in an atom. */
export function insertOrGet(
  database: MemoryDatabase,
  submissions: readonly Submission[],
  clock: CreationClock,
  recurringId: string | null,
): StageResult[] {
  refuseDifferentRequests(submissions);
  refuseCircle(submissions);

  const met = submissions.map(submission => insertOrMeet(database, submission, clock, recurringId));
  const created = met.filter(({ matched }) => matched === 'none').map(({ key }) => key);
  created.forEach(key => refuseMissingParents(database, key));
  // Answered as it is after this, so nobody has known it otherwise.
  resolveJobs(database, created, Infinity, clock.now(), () => {});

  return met.map(({ key, matched }) =>
    Object.freeze({ job: snapshotOf(database.jobs.get(key)!), created: matched === 'none', matched }),
  );
}

interface Met {
  readonly key: JobKey;
  readonly matched: Matched;
}

/** Identity is judged before the unique key. */
function insertOrMeet(
  database: MemoryDatabase,
  submission: Submission,
  clock: CreationClock,
  recurringId: string | null,
): Met {
  const { scope, id, uniqueKey } = submission;
  const stored = database.jobs.get(submission);
  if (stored !== undefined) {
    refuseDifferent(requestOf(stored), submission);
    return { key: stored, matched: 'identity' };
  }

  const holder = uniqueKey === null ? undefined : database.jobs.holderOf(uniqueKeyOf(scope, uniqueKey));
  if (holder !== undefined) {
    return { key: holder, matched: 'uniqueKey' };
  }

  database.jobs.insert(newJob(submission, { now: clock.now(), createdAt: clock.next() }, recurringId));
  return { key: { scope, id }, matched: 'none' };
}

/** Also where neither is stored, because the first one met a unique key. */
function refuseDifferentRequests(submissions: readonly Submission[]): void {
  const firsts = new Map<string, Submission>();

  for (const submission of submissions) {
    const first = firsts.get(keyOf(submission)) ?? submission;
    firsts.set(keyOf(submission), first);
    refuseDifferent(first, submission);
  }
}

function refuseDifferent(stored: RequestFields, submitted: Submission): void {
  const differences = differencesBetween(stored, submitted);
  if (differences.length > 0) {
    throw new JobIdentityConflictError({ scope: submitted.scope, id: submitted.id }, differences);
  }
}

function requestOf(job: StoredJob): RequestFields {
  return {
    ...job,
    queue: job.initialQueue ?? job.queue,
    notBefore: job.notBefore === null ? null : dateOf(job.notBefore),
  };
}

function refuseMissingParents(database: MemoryDatabase, { scope, id }: JobKey): void {
  const missing = database.jobs.get({ scope, id })!.after.find(parent => !database.jobs.get({ scope, id: parent }));
  if (missing !== undefined) {
    throw new ParentNotFoundError({ scope, id }, missing);
  }
}
