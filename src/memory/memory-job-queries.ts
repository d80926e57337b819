import type { Clock } from '../core/clock.ts';
import type { FailureReason } from '../core/failure-reason.ts';
import type { JobKey } from '../core/job-key.ts';
import type {
  Backlog,
  ExecutorSnapshot,
  JobCount,
  JobFilter,
  JobQueries,
  ListedJob,
  ListPosition,
  ReasonCount,
} from '../core/queries.ts';
import type { AttemptSnapshot } from '../core/snapshot.ts';
import { compareTexts } from './compare.ts';
import { groupBy } from './group-by.ts';
import { matcherOf } from './job-filter.ts';
import { attemptKeyOf } from './keys.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { runningJobs } from './running-jobs.ts';
import { attemptSnapshotOf, snapshotOf } from './snapshots.ts';
import { executorSnapshotOf } from './stored-executor.ts';
import type { StoredJob } from './stored-job.ts';

/** The reads for people, in memory. */
export class MemoryJobQueries implements JobQueries {
  readonly #database: MemoryDatabase;
  readonly #clock: Clock;

  constructor({ database, clock }: { readonly database: MemoryDatabase; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  async attempts({ scope, id }: JobKey): Promise<AttemptSnapshot[]> {
    const { attempts, jobs } = this.#database;
    const starts = jobs.get({ scope, id })?.attemptCount ?? 0;

    return Array.from({ length: starts }, (_, index) => attempts.get(attemptKeyOf({ scope, id, attempt: index + 1 })))
      .filter(attempt => attempt !== undefined)
      .map(attemptSnapshotOf);
  }

  async list(
    filter: JobFilter,
    { after, limit }: { readonly after: ListPosition | null; readonly limit: number },
  ): Promise<ListedJob[]> {
    return this.#matching(filter)
      .filter(job => after === null || byNewest(job, after) > 0)
      .sort(byNewest)
      .slice(0, limit)
      .map(job => ({ job: snapshotOf(job), position: { createdAt: job.createdAt, scope: job.scope, id: job.id } }));
  }

  async counts(filter: JobFilter): Promise<JobCount[]> {
    const groups = groupBy(this.#matching(filter), ({ queue, name, version, state }) =>
      JSON.stringify([queue, name, version, state]),
    );

    return [...groups]
      .sort(([a], [b]) => compareTexts(a, b))
      .map(([, [first, ...others]]) => {
        const { queue, name, version, state } = first!;
        return Object.freeze({ queue, name, version, state, count: 1 + others.length });
      });
  }

  async countsByReason(filter: JobFilter): Promise<ReasonCount[]> {
    const failed = this.#matching(filter).filter(({ failureReason }) => failureReason !== null);

    return [...groupBy(failed, ({ failureReason }) => failureReason!)]
      .sort(([a], [b]) => compareTexts(a, b))
      .map(([reason, jobs]) => Object.freeze({ reason: reason as FailureReason, count: jobs.length }));
  }

  async backlog(): Promise<Backlog[]> {
    const now = this.#clock.now();
    const due = this.#database.jobs.inState('queued').filter(({ nextRunAt }) => nextRunAt <= now);

    return [...groupBy(due, ({ queue }) => queue)].map(([queue, jobs]) => {
      const firstDueAt = jobs.reduce((first, { nextRunAt }) => Math.min(first, nextRunAt), now);
      return { queue, due: jobs.length, lag: now - firstDueAt };
    });
  }

  async executors({ onlyActive }: { readonly onlyActive: boolean }): Promise<ExecutorSnapshot[]> {
    return this.#database.executors
      .all()
      .filter(({ state }) => !onlyActive || state === 'active')
      .sort((a, b) => b.startedAt - a.startedAt || compareTexts(a.id, b.id))
      .map(executor => executorSnapshotOf(executor, runningJobs(this.#database, { executorId: executor.id }).length));
  }

  #matching(filter: JobFilter): StoredJob[] {
    return this.#database.jobs.all().filter(matcherOf(filter));
  }
}

function byNewest(a: ListPosition, b: ListPosition): number {
  return b.createdAt - a.createdAt || compareTexts(b.scope, a.scope) || compareTexts(b.id, a.id);
}
