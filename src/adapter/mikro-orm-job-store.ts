import { v4 as uuidV4 } from 'uuid';
import type { Attempt, AttemptRef, RunningAttempt, Settlement } from '../core/attempt.ts';
import { type CreationClock, type Clock } from '../core/clock.ts';
import { dueLanesOf } from '../core/due-lane.ts';
import type { JobKey } from '../core/job-key.ts';
import { recoveredOf } from '../core/recovered-of.ts';
import { scopeHash } from '../core/scope.ts';
import type { JobSnapshot, StageResult } from '../core/snapshot.ts';
import type { FinishedState, JobState } from '../core/states.ts';
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
  StoreCapabilities,
  StoreHint,
} from '../core/store.ts';
import type { Submission } from '../core/submission.ts';
import type { Micros } from '../core/time.ts';
import { fatesByAttempt, stateSettledBefore, statusOf, whyNotEnded, type AttemptFate } from './attempt-fate.ts';
import { Continuations } from './continuations.ts';
import { DueJobs } from './due-jobs.ts';
import { eachOnce } from './each-once.ts';
import { ExecutorRegistry } from './executor-registry.ts';
import { FinishedJobs } from './finished-jobs.ts';
import { dueHint, type Hints } from './hint-channel.ts';
import { insertOrGet } from './insert-or-get.ts';
import { attemptRefKey, attemptRowKey, toRunningAttempt } from './job-row.ts';
import type { Row, Session } from './session.ts';
import type { StoreParts } from './store-parts.ts';
import type { EndedRow, SqlDialect } from './sql/dialect.ts';
import { MikroOrmJobQueries } from './mikro-orm-job-queries.ts';
import { attemptFates } from './sql/shared/attempt-fates.ts';
import { cancelJob } from './sql/shared/cancel-job.ts';
import type { Statement } from './sql/statement.ts';
import { runJobNow } from './sql/shared/run-job-now.ts';
import { runningJobs } from './sql/shared/running-jobs.ts';
import { whyNotCancelled, whyNotDue, writeOrTell } from './write-or-tell.ts';

/** The store on MikroORM: turns the contract's calls into statements, and rows into its answers. Decides nothing. */
export class MikroOrmJobStore extends MikroOrmJobQueries implements JobStore {
  readonly capabilities: StoreCapabilities;
  readonly #session: Session;
  readonly #dueJobs: DueJobs;
  readonly #executors: ExecutorRegistry;
  readonly #continuations: Continuations;
  readonly #finished: FinishedJobs;
  readonly #dialect: SqlDialect;
  readonly #clock: Clock;
  readonly #creationClock: CreationClock;
  readonly #hints: Hints;
  readonly #belowCaps: Set<string>;

  constructor(parts: StoreParts) {
    const { session, dialect, clock, creationClock, hints, belowCaps } = parts;
    super({ session, clock });
    this.#session = session;
    this.#dueJobs = new DueJobs(session, dialect, belowCaps);
    this.#executors = new ExecutorRegistry(session, clock);
    this.#continuations = new Continuations(parts);
    this.#finished = new FinishedJobs(parts, this.#continuations, key => this.get(key));
    this.#dialect = dialect;
    this.#clock = clock;
    this.#creationClock = creationClock;
    this.#hints = hints;
    this.#belowCaps = belowCaps;
    this.capabilities = Object.freeze({ wakeUp: hints.reach, severalProcesses: true });
  }

  async submit(submissions: readonly Submission[]): Promise<StageResult[]> {
    const store = (run: Session['write']) => {
      const to = { dialect: this.#dialect, tables: this.#session.tables, run };
      return insertOrGet(to, submissions, this.#creationClock);
    };
    // One item without parents is one statement, atomic by itself; all else is all or nothing.
    const isOneStatement = submissions.length === 1 && submissions[0]!.after.length === 0;
    const results = await (isOneStatement ? store(this.#session.write) : this.#session.atomically(store));

    const created = results.filter(({ created }) => created).map(({ job }) => job);
    const awaiting = created.filter(({ state }) => state === 'awaiting');
    await this.#continuations.afterCommit(awaiting.map(({ scope, id }) => [scopeHash(scope), id]));
    if (created.length > 0) {
      this.#hints.send(dueHint(dueLanesOf(created)));
    }
    return results;
  }

  async register(executor: ExecutorRegistration): Promise<void> {
    await this.#executors.register(executor);
  }

  async retire(executorId: string): Promise<void> {
    this.#dueJobs.forget(executorId);
    await this.#executors.retire(executorId);
  }

  async retireUnleased(alive: readonly string[]): Promise<void> {
    await this.#executors.retireUnleased(alive);
  }

  async renew(executorId: string, leaseUntil: Micros): Promise<RenewAnswer> {
    return this.#executors.renew(executorId, leaseUntil);
  }

  async recoverLapsed(limit: number): Promise<RecoverLapsedAnswer> {
    const { lapsed, orphans } = await this.#executors.lapse(limit);
    const answers = await this.recover(orphans, { requeue: 'declared', reason: 'lease_lapsed' });

    return { lapsed, recovered: recoveredOf(orphans, answers) };
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return this.#dueJobs.claim(request, this.#clock.now());
  }

  async tryStart(key: JobKey, executorId: string): Promise<Attempt | null> {
    return this.#dueJobs.start({ ...hashed(key), executorId, token: uuidV4(), now: this.#clock.now() });
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

  async cancel(key: JobKey, how: Parameters<JobStore['cancel']>[1]): Promise<CancelAnswer> {
    const { scopeHash: hash, id } = hashed(key);
    const cancel = () => cancelJob(this.#session.tables, hash, id, how, this.#clock.now());
    const answer = await this.#writeOrTell(key, cancel, whyNotCancelled);

    if (typeof answer === 'string') {
      return answer;
    }
    if (answer.state === 'cancelled') {
      await this.#continuations.afterEnding([{ scope_hash: hash, id, state: 'cancelled' }]);
      return 'cancelled';
    }

    this.#hints.send({ kind: 'cancel', key });
    return 'requested';
  }

  async resolve({ keys, limit }: Parameters<JobStore['resolve']>[0]): Promise<ResolveAnswer> {
    return this.#continuations.resolve(keys, limit);
  }

  async retry(key: JobKey, how: Parameters<JobStore['retry']>[1]): Promise<RetryAnswer> {
    return this.#finished.retry(key, how);
  }

  async resurrect(key: JobKey, how: Resurrection): Promise<ResurrectAnswer> {
    return this.#finished.resurrect(key, how);
  }

  async runNow(key: JobKey, { actor }: { readonly actor?: string } = {}): Promise<RunNowAnswer> {
    const { scopeHash: hash, id } = hashed(key);
    const runNow = () => runJobNow(this.#session.tables, hash, id, actor ?? null, this.#clock.now());
    const answer = await this.#writeOrTell(key, runNow, whyNotDue);

    if (typeof answer === 'string') {
      return answer;
    }

    this.#hints.send({ kind: 'due' });
    return 'due';
  }

  async prune(policy: PrunePolicy): Promise<PruneAnswer> {
    return {
      jobs: await this.#finished.prune(policy),
      executors: await this.#executors.prune(policy.executorsBefore, policy.limit),
    };
  }

  async purge(keys: readonly JobKey[], states: readonly FinishedState[]): Promise<number> {
    return this.#finished.purge(keys, states);
  }

  subscribe(listener: (hint: StoreHint) => void): () => Promise<void> {
    return this.#hints.subscribe(listener);
  }

  #writeOrTell<Reason extends string>(
    key: JobKey,
    update: () => Statement,
    whyNot: (job: JobSnapshot) => Reason | null | Promise<Reason | null>,
  ): Promise<Row | Reason | 'not_found'> {
    return writeOrTell(
      key,
      () => this.#session.write(update()),
      () => this.get(key),
      whyNot,
    );
  }

  /** What was ended is answered by its job's state, everything else by what has become of it. */
  async #answersFor<A extends AttemptRef, R>(
    attempts: readonly A[],
    ended: readonly EndedRow[],
    answerFor: (state: JobState) => R,
    whyNot: (fate: AttemptFate, attempt: A) => R,
  ): Promise<R[]> {
    await this.#continuations.afterEnding(ended);
    this.#tellRoom(attempts);
    const states = new Map(ended.map(row => [attemptRowKey(row), row.state as JobState]));
    const fateOf = await this.#fatesOf(attempts.filter(attempt => !states.has(attemptRefKey(attempt))));

    return attempts.map(attempt => {
      const state = states.get(attemptRefKey(attempt));
      return state === undefined ? whyNot(fateOf(attempt), attempt) : answerFor(state);
    });
  }

  #tellRoom(attempts: readonly AttemptRef[]): void {
    if (attempts.filter(({ token }) => this.#belowCaps.delete(token)).length > 0) {
      this.#hints.send({ kind: 'room' });
    }
  }

  async #fatesOf(attempts: readonly AttemptRef[]): Promise<(attempt: AttemptRef) => AttemptFate> {
    return fatesByAttempt(
      attempts.length === 0 ? [] : await this.#session.read(attemptFates(this.#session.tables, attempts)),
    );
  }
}

function hashed({ scope, id }: JobKey): { scopeHash: string; id: string } {
  return { scopeHash: scopeHash(scope), id };
}
