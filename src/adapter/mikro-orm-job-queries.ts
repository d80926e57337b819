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
import { scopeHash } from '../core/scope.ts';
import type { AttemptSnapshot, JobSnapshot } from '../core/snapshot.ts';
import type { JobState } from '../core/states.ts';
import { dateOf } from '../core/time.ts';
import { toAttemptSnapshot, toSnapshot } from './job-row.ts';
import type { Row, Session } from './session.ts';
import { countJobs, countJobsByReason, dueByQueue, listJobs, readExecutors } from './sql/shared/list-jobs.ts';
import { readAttempts, readJob } from './sql/shared/read-jobs.ts';

/** The reads on MikroORM: of one job, and those for people. */
export class MikroOrmJobQueries implements JobQueries {
  readonly #session: Session;
  readonly #clock: Clock;

  constructor({ session, clock }: { readonly session: Session; readonly clock: Clock }) {
    this.#session = session;
    this.#clock = clock;
  }

  async get({ scope, id }: JobKey): Promise<JobSnapshot | null> {
    const { read, tables } = this.#session;
    const [row] = await read(readJob(tables, scopeHash(scope), id));

    return row === undefined ? null : toSnapshot(row);
  }

  async attempts(key: JobKey): Promise<AttemptSnapshot[]> {
    const { read, tables } = this.#session;
    return (await read(readAttempts(tables, scopeHash(key.scope), key.id))).map(row => toAttemptSnapshot(key, row));
  }

  async list(
    filter: JobFilter,
    { after, limit }: { readonly after: ListPosition | null; readonly limit: number },
  ): Promise<ListedJob[]> {
    const { read, tables } = this.#session;
    return (await read(listJobs(tables, filter, after, limit))).map(toListedJob);
  }

  async counts(filter: JobFilter): Promise<JobCount[]> {
    const { read, tables } = this.#session;
    return (await read(countJobs(tables, filter))).map(toCount);
  }

  async countsByReason(filter: JobFilter): Promise<ReasonCount[]> {
    const { read, tables } = this.#session;
    return (await read(countJobsByReason(tables, filter))).map(row =>
      Object.freeze({ reason: row.failure_reason as FailureReason, count: Number(row.count) }),
    );
  }

  async backlog(): Promise<Backlog[]> {
    const { read, tables } = this.#session;
    const now = this.#clock.now();

    return (await read(dueByQueue(tables, now))).map(row => ({
      queue: row.queue as string,
      due: Number(row.due),
      lag: now - Number(row.first_due_at),
    }));
  }

  async executors({ onlyActive }: { readonly onlyActive: boolean }): Promise<ExecutorSnapshot[]> {
    const { read, tables } = this.#session;
    return (await read(readExecutors(tables, onlyActive))).map(toExecutorSnapshot);
  }
}

function toListedJob(row: Row): ListedJob {
  const job = toSnapshot(row);
  return { job, position: { createdAt: Number(row.created_at), scope: job.scope, id: job.id } };
}

function toCount(row: Row): JobCount {
  return Object.freeze({
    queue: row.queue as string,
    name: row.name as string,
    version: row.version as string,
    state: row.state as JobState,
    count: Number(row.count),
  });
}

function toExecutorSnapshot(row: Row): ExecutorSnapshot {
  const said = JSON.parse((row.metadata as string | null) ?? '{}') as Partial<ExecutorSnapshot>;

  return Object.freeze({
    id: row.id as string,
    name: row.name as string,
    host: row.host as string,
    state: row.state as ExecutorSnapshot['state'],
    leaseUntil: row.lease_until === null ? null : dateOf(Number(row.lease_until)),
    startedAt: dateOf(Number(row.started_at)),
    definitions: said.definitions ?? null,
    queues: said.queues ?? null,
    concurrency: said.concurrency ?? null,
    running: Number(row.running),
  });
}
