import type { Attempt, AttemptRef, RunningAttempt, Settlement } from '../core/attempt.ts';
import type { Clock, CreationClock } from '../core/clock.ts';
import { recoveredOf } from '../core/recovered-of.ts';
import { InvalidOptionError } from '../core/errors.ts';
import type { JobKey } from '../core/job-key.ts';
import type { JobSnapshot, StageResult } from '../core/snapshot.ts';
import { finishedStates, isFinished, type FinishedState, type JobState } from '../core/states.ts';
import type {
  AttemptStatus,
  CancelAnswer,
  ClaimAnswer,
  ClaimRequest,
  ExecutorRegistration,
  JobStore,
  ProgressAnswer,
  ProgressReport,
  PruneAnswer,
  PrunePolicy,
  RecoverAnswer,
  RecoverLapsedAnswer,
  Recovery,
  ReleaseAnswer,
  RenewAnswer,
  ResolveAnswer,
  ResurrectAnswer,
  Resurrection,
  RetryAnswer,
  RunningFilter,
  RunNowAnswer,
  SettleAnswer,
  StoreHint,
} from '../core/store.ts';
import type { Submission } from '../core/submission.ts';
import type { Micros } from '../core/time.ts';
import { stateSettledBefore, statusOf, whyNotEnded } from './attempt-fate.ts';
import { cancelJob } from './cancel-job.ts';
import { claimDueJobs } from './claim-due-jobs.ts';
import { deleteFinishedJobs } from './delete-finished-jobs.ts';
import { deleteExecutors, isActive, lapseExecutors } from './executors.ts';
import { insertOrGet } from './insert-or-get.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { MemoryJobQueries } from './memory-job-queries.ts';
import { QueueRooms } from './queue-rooms.ts';
import { recoverAttempt } from './recover-attempt.ts';
import { releaseAttempt } from './release-attempt.ts';
import { reportProgress } from './report-progress.ts';
import { resolveChildren, resolveJobs } from './resolve-jobs.ts';
import { resurrectJob, retryJob } from './retry-job.ts';
import { orphanedJobs, runningJobs } from './running-jobs.ts';
import { settleAttempt } from './settle-attempt.ts';
import { snapshotOf } from './snapshots.ts';
import { runningAttemptOf, startJob } from './start-job.ts';
import { newExecutor } from './stored-executor.ts';

/** What the memory stores of one process are made of. */
export interface MemoryStoreParts {
  readonly database: MemoryDatabase;
  readonly clock: Clock;
  readonly creationClock: CreationClock;
}

/**
 * The store contract in plain maps: for tests and demos. NOT DURABLE: everything in it is gone with the process. Each call is
 * one atom, all or nothing, because nothing in it awaits.
 */
export class MemoryJobStore extends MemoryJobQueries implements JobStore {
  readonly capabilities = Object.freeze({ wakeUp: 'local', severalProcesses: false } as const);
  readonly #database: MemoryDatabase;
  readonly #clock: Clock;
  readonly #creationClock: CreationClock;

  constructor({ database, clock, creationClock }: MemoryStoreParts) {
    super({ database, clock });
    this.#database = database;
    this.#clock = clock;
    this.#creationClock = creationClock;
  }

  async submit(submissions: readonly Submission[]): Promise<StageResult[]> {
    return this.#atomically(database => insertOrGet(database, submissions, this.#creationClock, null));
  }

  async register(executor: ExecutorRegistration): Promise<void> {
    const { id } = executor;

    this.#atomically(({ executors }, now) => {
      if (executors.get(id) !== undefined) {
        throw new InvalidOptionError('id', 'be unique among all executors that ever registered', id);
      }
      executors.put(id, newExecutor(executor, now));
    });
  }

  async renew(executorId: string, leaseUntil: Micros): Promise<RenewAnswer> {
    return this.#atomically(database => {
      const executor = database.executors.get(executorId);
      if (executor?.state !== 'active' || executor.leaseUntil === null) {
        return { answer: 'lapsed' };
      }

      database.executors.put(executorId, { ...executor, leaseUntil });
      const attempts = runningJobs(database, { executorId }).map(job => ({
        token: job.token!,
        status: job.cancelRequestedAt === null ? ('active' as const) : ('cancel_requested' as const),
      }));
      return { answer: 'renewed', attempts };
    });
  }

  async recoverLapsed(limit: number): Promise<RecoverLapsedAnswer> {
    return this.#atomically((database, now) => {
      const lapsed = lapseExecutors(database, now);
      const orphans = orphanedJobs(database).slice(0, limit).map(runningAttemptOf);
      const answers = orphans.map(orphan =>
        this.#recover(orphan, { requeue: 'declared', reason: 'lease_lapsed' }, now),
      );

      return { lapsed, recovered: recoveredOf(orphans, answers) };
    });
  }

  async retire(executorId: string): Promise<void> {
    this.#atomically(({ executors }) => {
      const executor = executors.get(executorId);
      if (executor !== undefined) {
        executors.put(executorId, { ...executor, state: 'stopped' });
      }
    });
  }

  async retireUnleased(alive: readonly string[]): Promise<void> {
    this.#atomically(({ executors }) => {
      executors
        .all()
        .filter(({ id, state, leaseUntil }) => state === 'active' && leaseUntil === null && !alive.includes(id))
        .forEach(executor => executors.put(executor.id, { ...executor, state: 'stopped' }));
    });
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return this.#atomically((database, now) => claimDueJobs(database, request, now));
  }

  async tryStart(key: JobKey, executorId: string): Promise<Attempt | null> {
    return this.#atomically((database, now) => {
      const job = database.jobs.get(key);
      if (job?.state !== 'queued' || job.nextRunAt > now || !isActive(database, executorId)) {
        return null;
      }

      const rooms = new QueueRooms(database);
      const mayStart = !rooms.isPaused(job.queue) && rooms.hasRoom(job.queue);
      return mayStart ? startJob(database, job, executorId, now) : null;
    });
  }

  async progress(reports: readonly ProgressReport[]): Promise<ProgressAnswer[]> {
    return this.#atomically(database =>
      reports.map(report => {
        const written = reportProgress(database, report);
        return { status: statusOf(database, report), written };
      }),
    );
  }

  async status(attempts: readonly AttemptRef[]): Promise<AttemptStatus[]> {
    return attempts.map(attempt => statusOf(this.#database, attempt));
  }

  async settle(settlements: readonly Settlement[]): Promise<SettleAnswer[]> {
    return this.#atomically((database, now) =>
      settlements.map(settlement => {
        const state = settleAttempt(database, settlement, now);
        if (state !== null && isFinished(state)) {
          resolveChildren(database, settlement, now);
        }

        const reached = state ?? stateSettledBefore(database, settlement);
        return reached === null ? { answer: whyNotEnded(database, settlement) } : { answer: 'settled', state: reached };
      }),
    );
  }

  async release(attempts: readonly AttemptRef[]): Promise<ReleaseAnswer[]> {
    return this.#atomically((database, now) =>
      attempts.map(attempt => {
        const answer = releaseAttempt(database, attempt, now);
        if (answer === 'cancelled') {
          resolveChildren(database, attempt, now);
        }

        return answer ?? whyNotEnded(database, attempt);
      }),
    );
  }

  async recover(attempts: readonly AttemptRef[], how: Recovery): Promise<RecoverAnswer[]> {
    return this.#atomically((_, now) => attempts.map(attempt => this.#recover(attempt, how, now)));
  }

  async running({ limit, ...filter }: RunningFilter): Promise<RunningAttempt[]> {
    return runningJobs(this.#database, filter).slice(0, limit).map(runningAttemptOf);
  }

  async cancel(key: JobKey, how: Parameters<JobStore['cancel']>[1]): Promise<CancelAnswer> {
    const marked = this.#database.jobs.get(key)?.cancelRequestedAt;
    const answer = this.#atomically((database, now) => {
      const job = database.jobs.get(key);
      return job === undefined ? 'not_found' : cancelJob(database, job, how, now);
    });

    if (answer === 'requested' && marked === null) {
      this.#database.hints.send({ kind: 'cancel', key: { scope: key.scope, id: key.id } });
    }
    return answer;
  }

  async resolve({ keys, limit }: Parameters<JobStore['resolve']>[0]): Promise<ResolveAnswer> {
    return this.#atomically((database, now) =>
      resolveJobs(database, keys ?? database.jobs.inState('awaiting'), limit, now),
    );
  }

  async retry(key: JobKey, { at, actor }: Parameters<JobStore['retry']>[1]): Promise<RetryAnswer> {
    return this.#atomically((database, now) => {
      const job = database.jobs.get(key);
      return job === undefined ? 'not_found' : retryJob(database, job, { at: at ?? now, actor });
    });
  }

  async resurrect(key: JobKey, how: Resurrection): Promise<ResurrectAnswer> {
    return this.#atomically((database, now) => {
      const job = database.jobs.get(key);
      return job === undefined ? 'not_found' : resurrectJob(database, job, how, now);
    });
  }

  async runNow(key: JobKey, { actor }: { readonly actor?: string } = {}): Promise<RunNowAnswer> {
    return this.#atomically(({ jobs }, now) => {
      const job = jobs.get(key);
      if (job?.state !== 'queued') {
        return job === undefined ? 'not_found' : 'not_queued';
      }

      jobs.update(job, { nextRunAt: Math.min(job.nextRunAt, now), changedBy: actor ?? null });
      return 'due';
    });
  }

  async get(key: JobKey): Promise<JobSnapshot | null> {
    const job = this.#database.jobs.get(key);
    return job === undefined ? null : snapshotOf(job);
  }

  async prune({ finishedBefore, executorsBefore, limit }: PrunePolicy): Promise<PruneAnswer> {
    return this.#atomically(database => {
      const kept = finishedStates
        .flatMap(state => database.jobs.inState(state).filter(job => isOver(job.finishedAt, finishedBefore[state])))
        .sort((a, b) => a.finishedAt! - b.finishedAt!);

      return {
        jobs: deleteFinishedJobs(database, kept, limit),
        executors: deleteExecutors(database, executorsBefore, limit),
      };
    });
  }

  async purge(keys: readonly JobKey[], states: readonly FinishedState[]): Promise<number> {
    return this.#atomically(database => {
      const jobs = [...new Set(keys.map(key => database.jobs.get(key)))].filter(job => job !== undefined);
      const inState = jobs.filter(({ state }) => (states as readonly JobState[]).includes(state));

      return deleteFinishedJobs(database, inState, Infinity);
    });
  }

  subscribe(listener: (hint: StoreHint) => void): () => Promise<void> {
    return this.#database.hints.subscribe(listener);
  }

  #recover(attempt: AttemptRef, how: Recovery, now: Micros): RecoverAnswer {
    const state = recoverAttempt(this.#database, attempt, how, now);
    if (state === 'cancelled') {
      resolveChildren(this.#database, attempt, now);
    }

    return state ?? whyNotEnded(this.#database, attempt);
  }

  #atomically<T>(work: (database: MemoryDatabase, now: Micros) => T): T {
    const now = this.#clock.now();
    return this.#database.atomically(() => work(this.#database, now));
  }
}

function isOver(finishedAt: Micros | null, before: Micros | null): boolean {
  return before !== null && finishedAt !== null && finishedAt < before;
}
