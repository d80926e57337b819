import { v4 as uuidV4 } from 'uuid';
import type { Attempt, AttemptRef, RunningAttempt, Settlement } from '../core/attempt.ts';
import { type CreationClock, type Clock } from '../core/clock.ts';
import type { JobKey } from '../core/job-key.ts';
import type { JobQueries } from '../core/queries.ts';
import { scopeHash } from '../core/scope.ts';
import type { AttemptSnapshot, JobSnapshot, StageResult } from '../core/snapshot.ts';
import type { JobState } from '../core/states.ts';
import type {
  AttemptStatus,
  CancelAnswer,
  ClaimAnswer,
  ClaimRequest,
  ExecutorRegistration,
  JobStore,
  ProgressAnswer,
  ProgressReport,
  RecoverAnswer,
  Recovery,
  ReleaseAnswer,
  RetryAnswer,
  RunningFilter,
  RunNowAnswer,
  SettleAnswer,
  StoreHint,
} from '../core/store.ts';
import type { Submission } from '../core/submission.ts';
import type { Micros } from '../core/time.ts';
import { fatesByAttempt, stateSettledBefore, statusOf, whyNotEnded, type AttemptFate } from './attempt-fate.ts';
import { eachOnce } from './each-once.ts';
import type { HintChannel } from './hint-channel.ts';
import { insertOrGet } from './insert-or-get.ts';
import {
  attemptRefKey,
  attemptRowKey,
  byClaimOrder,
  toAttempt,
  toAttemptSnapshot,
  toRunningAttempt,
  toSnapshot,
} from './job-row.ts';
import type { Row, Session } from './session.ts';
import { bareLane, earliest, toLane, type SeenLane } from './seen-lane.ts';
import type { EndedRow, SqlDialect } from './sql/dialect.ts';
import { attemptFates } from './sql/shared/attempt-fates.ts';
import { cancelJob } from './sql/shared/cancel-job.ts';
import { insertExecutor, stopExecutor } from './sql/shared/executors.ts';
import { look } from './sql/shared/look.ts';
import { readAttempts, readJob } from './sql/shared/read-jobs.ts';
import type { Statement } from './sql/statement.ts';
import { retryJob } from './sql/shared/retry-job.ts';
import { runJobNow } from './sql/shared/run-job-now.ts';
import { runningJobs } from './sql/shared/running-jobs.ts';
import { whyNotCancelled, whyNotDue, whyNotRetried, writeOrTell } from './write-or-tell.ts';

/** What a store is made of; the same for one on its own connections and one inside a transaction. */
export interface StoreParts {
  readonly session: Session;
  readonly dialect: SqlDialect;
  readonly clock: Clock;
  readonly creationClock: CreationClock;
  readonly hints: HintChannel;
}

/** The store on MikroORM: turns the contract's calls into statements, and rows into its answers. Decides nothing. */
export class MikroOrmJobStore implements JobStore, JobQueries {
  readonly capabilities = Object.freeze({ wakeUp: 'local', severalProcesses: false } as const);
  readonly #session: Session;
  readonly #dialect: SqlDialect;
  readonly #clock: Clock;
  readonly #creationClock: CreationClock;
  readonly #hints: HintChannel;

  constructor({ session, dialect, clock, creationClock, hints }: StoreParts) {
    this.#session = session;
    this.#dialect = dialect;
    this.#clock = clock;
    this.#creationClock = creationClock;
    this.#hints = hints;
  }

  async submit(submissions: readonly Submission[]): Promise<StageResult[]> {
    const store = (run: Session['write']) => {
      const to = { dialect: this.#dialect, tables: this.#session.tables, run };
      return insertOrGet(to, submissions, () => this.#creationClock.next());
    };
    // One item is one statement, atomic by itself; several are all or nothing.
    const results = await (submissions.length === 1 ? store(this.#session.write) : this.#session.atomically(store));

    this.#wake(results.some(({ created }) => created));
    return results;
  }

  async register(executor: ExecutorRegistration): Promise<void> {
    await this.#session.write(insertExecutor(this.#session.tables, executor, this.#clock.now()));
  }

  async retire(executorId: string): Promise<void> {
    await this.#session.write(stopExecutor(this.#session.tables, executorId));
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    if (request.definitions.length === 0 || request.queues?.length === 0) {
      return { attempts: [], nextDueAt: null };
    }

    const now = this.#clock.now();
    const lanes = (await this.#session.read(look(this.#session.tables, request))).map(toLane);
    const due = lanes.filter(lane => lane.firstDueAt <= now);

    const attempts = due.length === 0 || request.limit < 1 ? [] : await this.#claimLanes(request, due, now);

    // A lane that gave something may have more, or something later, that the look didn't see: ask again at once. What is due and
    // was not got is held by another caller; it may be given back.
    return { attempts, nextDueAt: attempts.length > 0 ? now : earliest(lanes) };
  }

  async tryStart(key: JobKey, executorId: string): Promise<Attempt | null> {
    const now = this.#clock.now();
    const row = await this.#dialect.startJob(this.#session, { ...hashed(key), executorId, token: uuidV4(), now });

    return row === undefined ? null : toAttempt(row, now);
  }

  async progress(reports: readonly ProgressReport[]): Promise<ProgressAnswer[]> {
    return eachOnce(reports, async once => {
      const written = new Set((await this.#dialect.progress(this.#session, once)).map(attemptRowKey));
      const statuses = await this.status(once.filter(report => !written.has(attemptRefKey(report))));

      return once.map(report =>
        written.has(attemptRefKey(report))
          ? { status: 'active', written: true }
          : { status: statuses.shift()!, written: false },
      );
    });
  }

  async status(attempts: readonly AttemptRef[]): Promise<AttemptStatus[]> {
    const fateOf = await this.#fatesOf(attempts);
    return attempts.map(attempt => statusOf(fateOf(attempt)));
  }

  async settle(settlements: readonly Settlement[]): Promise<SettleAnswer[]> {
    return eachOnce(settlements, async once => {
      const ended = await this.#dialect.settle(this.#session, once, this.#clock.now());

      return this.#answersFor<Settlement, SettleAnswer>(
        once,
        ended,
        state => ({ answer: 'settled', state }),
        (fate, settlement) => {
          const state = stateSettledBefore(settlement, fate);
          return state === null ? { answer: whyNotEnded(fate) } : { answer: 'settled', state };
        },
      );
    });
  }

  async release(attempts: readonly AttemptRef[]): Promise<ReleaseAnswer[]> {
    return eachOnce(attempts, async once => {
      const ended = await this.#dialect.release(this.#session, once, this.#clock.now());

      return this.#answersFor<AttemptRef, ReleaseAnswer>(
        once,
        ended,
        state => (state === 'queued' ? 'released' : 'cancelled'),
        whyNotEnded,
      );
    });
  }

  async recover(attempts: readonly AttemptRef[], how: Recovery): Promise<RecoverAnswer[]> {
    return eachOnce(attempts, async once => {
      const ended = await this.#dialect.recover(this.#session, once, how, this.#clock.now());

      return this.#answersFor<AttemptRef, RecoverAnswer>(once, ended, state => state as RecoverAnswer, whyNotEnded);
    });
  }

  async running(filter: RunningFilter): Promise<RunningAttempt[]> {
    return (await this.#session.read(runningJobs(this.#session.tables, filter))).map(toRunningAttempt);
  }

  async cancel(key: JobKey, { reason }: { readonly reason?: string }): Promise<CancelAnswer> {
    const { scopeHash: hash, id } = hashed(key);
    const cancel = () => cancelJob(this.#session.tables, hash, id, reason ?? null, this.#clock.now());
    const answer = await this.#writeOrTell(key, cancel, whyNotCancelled);

    if (typeof answer === 'string') {
      return answer;
    }
    if (answer.state === 'cancelled') {
      return 'cancelled';
    }

    this.#hints.send({ kind: 'cancel', key });
    return 'requested';
  }

  async retry(key: JobKey, { at }: { readonly at?: Micros }): Promise<RetryAnswer> {
    const { scopeHash: hash, id } = hashed(key);
    const retry = () => retryJob(this.#session.tables, hash, id, at ?? this.#clock.now());
    const answer = await this.#writeOrTell(key, retry, whyNotRetried);

    if (typeof answer === 'string') {
      return answer;
    }

    this.#wake(true);
    return 'queued';
  }

  async runNow(key: JobKey): Promise<RunNowAnswer> {
    const { scopeHash: hash, id } = hashed(key);
    const runNow = () => runJobNow(this.#session.tables, hash, id, this.#clock.now());
    const answer = await this.#writeOrTell(key, runNow, whyNotDue);

    if (typeof answer === 'string') {
      return answer;
    }

    this.#wake(true);
    return 'due';
  }

  async get(key: JobKey): Promise<JobSnapshot | null> {
    const { scopeHash: hash, id } = hashed(key);
    const [row] = await this.#session.read(readJob(this.#session.tables, hash, id));

    return row === undefined ? null : toSnapshot(row);
  }

  async attempts(key: JobKey): Promise<AttemptSnapshot[]> {
    const { scopeHash: hash, id } = hashed(key);
    return (await this.#session.read(readAttempts(this.#session.tables, hash, id))).map(row =>
      toAttemptSnapshot(key, row),
    );
  }

  subscribe(listener: (hint: StoreHint) => void): () => void {
    return this.#hints.subscribe(listener);
  }

  #writeOrTell<Reason extends string>(
    key: JobKey,
    update: () => Statement,
    whyNot: (job: JobSnapshot) => Reason | null,
  ): Promise<Row | Reason | 'not_found'> {
    return writeOrTell(
      () => this.#session.write(update()),
      () => this.get(key),
      whyNot,
    );
  }

  async #claimLanes({ executorId, limit }: ClaimRequest, lanes: readonly SeenLane[], now: Micros): Promise<Attempt[]> {
    const tokens = Array.from({ length: limit }, () => uuidV4());
    const rows = await this.#dialect.claimJobs(this.#session, { lanes: lanes.map(bareLane), executorId, tokens, now });

    return rows.sort(byClaimOrder).map(row => toAttempt(row, now));
  }

  /** What was ended is answered by its job's state, everything else by what has become of it. */
  async #answersFor<A extends AttemptRef, R>(
    attempts: readonly A[],
    ended: readonly EndedRow[],
    answerFor: (state: JobState) => R,
    whyNot: (fate: AttemptFate, attempt: A) => R,
  ): Promise<R[]> {
    this.#wake(ended.some(({ state }) => state === 'queued'));

    const states = new Map(ended.map(row => [attemptRowKey(row), row.state as JobState]));
    const fateOf = await this.#fatesOf(attempts.filter(attempt => !states.has(attemptRefKey(attempt))));

    return attempts.map(attempt => {
      const state = states.get(attemptRefKey(attempt));
      return state === undefined ? whyNot(fateOf(attempt), attempt) : answerFor(state);
    });
  }

  async #fatesOf(attempts: readonly AttemptRef[]): Promise<(attempt: AttemptRef) => AttemptFate> {
    return fatesByAttempt(
      attempts.length === 0 ? [] : await this.#session.read(attemptFates(this.#session.tables, attempts)),
    );
  }

  #wake(isNeeded: boolean): void {
    if (isNeeded) {
      this.#hints.send({ kind: 'due' });
    }
  }
}

function hashed({ scope, id }: JobKey): { scopeHash: string; id: string } {
  return { scopeHash: scopeHash(scope), id };
}
