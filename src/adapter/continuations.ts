import type { Clock } from '../core/clock.ts';
import type { JobKey } from '../core/job-key.ts';
import { scopeHash } from '../core/scope.ts';
import type { ResolveAnswer, ResurrectAnswer } from '../core/store.ts';
import type { Hints } from './hint-channel.ts';
import type { Session } from './session.ts';
import type { Candidates, EndedRow, MovedRow, RowKey, SqlDialect } from './sql/dialect.ts';
import type { StoreParts } from './store-parts.ts';

/** The ends that decide about children; an interrupted parent keeps them waiting. */
const endsForChildren: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);
/** A job that was ended; where nobody looked whether others wait for it, they may. */
type EndedJobRow = MovedRow & Partial<Pick<EndedRow, 'is_parent'>>;

/** More children than this of one group of parents are left to the maintenance. */
const maxResolved = 10_000;

/** Jobs that wait for parents: moves what can move, by state, in statements of their own. */
export class Continuations {
  readonly #session: Session;
  readonly #dialect: SqlDialect;
  readonly #clock: Clock;
  readonly #hints: Hints;
  readonly #tellResolved: StoreParts['tellResolved'];
  readonly #keepUntilCommit: StoreParts['keepUntilCommit'];

  constructor({
    session,
    dialect,
    clock,
    hints,
    tellResolved,
    keepUntilCommit,
  }: Omit<StoreParts, 'creationClock' | 'belowCaps'>) {
    this.#session = session;
    this.#dialect = dialect;
    this.#clock = clock;
    this.#hints = hints;
    this.#tellResolved = tellResolved;
    this.#keepUntilCommit = keepUntilCommit;
  }

  async resolve(keys: readonly JobKey[] | undefined, limit: number): Promise<ResolveAnswer> {
    return this.#resolve(
      keys === undefined
        ? { of: 'all', limit }
        : { of: 'keys', keys: keys.map(({ scope, id }) => [scopeHash(scope), id] as const), limit },
    );
  }

  /** A later statement than the one that ended the parents, or it would not see their ends. */
  async afterEnding(ended: readonly EndedJobRow[]): Promise<void> {
    const keys = ended.filter(isAwaited).map(row => [row.scope_hash, row.id] as const);
    if (this.#keepUntilCommit === undefined) {
      await this.resolveChildren(keys);
    } else if (keys.length > 0) {
      this.#keepUntilCommit(keys);
    }

    this.#wake(ended.some(({ state }) => state === 'queued'));
  }

  /** Of jobs whose ends are committed. */
  async resolveChildren(keys: readonly RowKey[]): Promise<ResolveAnswer> {
    return this.#resolve({ of: 'children', keys, limit: maxResolved });
  }

  /** Of jobs that are committed and wait: parents that ended beside their transaction didn't see them, nor were seen by them. */
  async afterCommit(awaiting: readonly RowKey[]): Promise<void> {
    if (awaiting.length > 0) {
      await this.#dialect.touchParents(this.#session.write, this.#session.tables, awaiting);
      await this.#resolve({ of: 'keys', keys: awaiting, limit: awaiting.length });
    }
  }

  /** A job that is gone counts as cancelled; those that were deleted because nobody awaits them may have a child since. */
  async afterDeletion(deleted: readonly MovedRow[]): Promise<void> {
    await this.afterEnding(deleted.map(row => ({ ...row, state: 'cancelled' })));
  }

  /** Of a job that waits again since its retry or resurrection. */
  async afterRetry(key: JobKey): Promise<ResurrectAnswer> {
    const { queued, cancelled } = await this.resolve([key], 1);
    return queued > 0 ? 'queued' : cancelled > 0 ? 'parents_not_succeeded' : 'awaiting';
  }

  async #resolve(candidates: Candidates): Promise<ResolveAnswer> {
    if (candidates.keys?.length === 0) {
      return { queued: 0, cancelled: 0 };
    }

    const { tables, write } = this.#session;
    const moved = await this.#dialect.resolveJobs(write, tables, candidates, this.#clock.now());
    const cancelled = moved.filter(({ state }) => state === 'cancelled');
    const queued = moved.length - cancelled.length;

    this.#tellResolved?.(moved);
    this.#wake(queued > 0);
    return { queued, cancelled: cancelled.length + (await this.#cancelBelow(cancelled)) };
  }

  /** A child that was committed beside the cascade wasn't seen by it, nor saw its parent's end. @returns how many there were */
  async #cancelBelow(cancelled: readonly MovedRow[]): Promise<number> {
    const keys = cancelled.map(row => [row.scope_hash, row.id] as const);
    return (await this.resolveChildren(keys)).cancelled;
  }

  #wake(isNeeded: boolean): void {
    if (isNeeded) {
      this.#hints.send({ kind: 'due' });
    }
  }
}

function isAwaited({ state, is_parent: isParent = true }: EndedJobRow): boolean {
  return Boolean(isParent) && endsForChildren.has(state);
}
