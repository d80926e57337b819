import type { Clock } from '../core/clock.ts';
import type { JobKey } from '../core/job-key.ts';
import { refuseForeignRepair } from '../core/refuse-foreign-repair.ts';
import { scopeHash } from '../core/scope.ts';
import type { JobSnapshot } from '../core/snapshot.ts';
import { finishedStates, type FinishedState } from '../core/states.ts';
import type { JobStore, PrunePolicy, Resurrection, ResurrectAnswer, RetryAnswer } from '../core/store.ts';
import type { Continuations } from './continuations.ts';
import type { Hints } from './hint-channel.ts';
import type { Row, Session } from './session.ts';
import type { Doomed, SqlDialect } from './sql/dialect.ts';
import { deadParents } from './sql/shared/parents-of.ts';
import { resurrectJob } from './sql/shared/resurrect-job.ts';
import { retryJob } from './sql/shared/retry-job.ts';
import type { Statement } from './sql/statement.ts';
import type { StoreParts } from './store-parts.ts';
import { whyNotResurrected, whyNotRetried, writeOrTell } from './write-or-tell.ts';

/** Jobs that have ended: brings them back, or deletes them. */
export class FinishedJobs {
  readonly #session: Session;
  readonly #dialect: SqlDialect;
  readonly #clock: Clock;
  readonly #hints: Hints;
  readonly #continuations: Continuations;
  readonly #get: (key: JobKey) => Promise<JobSnapshot | null>;

  constructor(
    { session, dialect, clock, hints }: Omit<StoreParts, 'creationClock' | 'belowCaps'>,
    continuations: Continuations,
    get: (key: JobKey) => Promise<JobSnapshot | null>,
  ) {
    this.#session = session;
    this.#dialect = dialect;
    this.#clock = clock;
    this.#hints = hints;
    this.#continuations = continuations;
    this.#get = get;
  }

  retry(key: JobKey, { at, actor }: Parameters<JobStore['retry']>[1]): Promise<RetryAnswer> {
    const retry = () =>
      retryJob(this.#session.tables, scopeHash(key.scope), key.id, actor ?? null, at ?? this.#clock.now());

    return this.#bringBack<RetryAnswer>(key, retry, whyNotRetried);
  }

  resurrect(key: JobKey, how: Resurrection): Promise<ResurrectAnswer> {
    const resurrect = () => resurrectJob(this.#session.tables, scopeHash(key.scope), key.id, how, this.#clock.now());

    return this.#bringBack<ResurrectAnswer>(key, resurrect, job => {
      refuseForeignRepair(job, how.repair);
      return whyNotResurrected(job);
    });
  }

  /** @returns how many were deleted */
  async prune({ finishedBefore, limit }: PrunePolicy): Promise<number> {
    let deleted = 0;
    for (const state of finishedStates) {
      const before = finishedBefore[state];
      if (before !== null && deleted < limit) {
        deleted += await this.#delete({ of: 'state', state, before, limit: limit - deleted });
      }
    }

    return deleted;
  }

  /** @returns how many were deleted */
  async purge(keys: readonly JobKey[], states: readonly FinishedState[]): Promise<number> {
    if (keys.length === 0 || states.length === 0) {
      return 0;
    }

    return this.#delete({ of: 'keys', keys: keys.map(({ scope, id }) => [scopeHash(scope), id] as const), states });
  }

  async #bringBack<Answer extends RetryAnswer>(
    key: JobKey,
    update: () => Statement,
    whyNot: (job: JobSnapshot) => Answer | null,
  ): Promise<Answer | ResurrectAnswer> {
    const answer = await writeOrTell(
      key,
      () => this.#session.write(update()),
      () => this.#get(key),
      async job => whyNot(job) ?? (await this.#whyNotReady(job)),
    );

    return typeof answer === 'string' ? answer : this.#broughtBack(key, answer);
  }

  async #whyNotReady({ scope, id }: JobKey): Promise<'parents_not_succeeded' | null> {
    const [parent] = await this.#session.read(deadParents(this.#session.tables, scopeHash(scope), id));
    return parent === undefined ? null : 'parents_not_succeeded';
  }

  async #broughtBack(key: JobKey, { state }: Row): Promise<ResurrectAnswer> {
    if (state === 'awaiting') {
      return this.#continuations.afterRetry(key);
    }

    this.#hints.send({ kind: 'due' });
    return 'queued';
  }

  async #delete(doomed: Doomed): Promise<number> {
    const deleted = await this.#dialect.deleteFinished(this.#session, doomed);
    await this.#continuations.afterDeletion(deleted);

    return deleted.length;
  }
}
