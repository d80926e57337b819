import {
  bulk,
  bulkAtOnce,
  checkedFilter,
  listPage,
  type BulkAnswer,
  type BulkOptions,
  type JobPage,
  type PageOptions,
} from './admin.ts';
import type { EventStream } from './event-stream.ts';
import { InvalidOptionError } from './errors.ts';
import { failureReasons, type FailureReason } from './failure-reason.ts';
import { checkKnown } from './known-options.ts';
import { checkedText } from './option-checks.ts';
import type { JobFilter, JobQueries } from './queries.ts';
import type { JobSnapshot } from './snapshot.ts';
import type { JobStore } from './store.ts';
import { isBack, resurrectAndTell, retryAndTell } from './told.ts';

/** Which dead letters of a scope. All conditions must hold. */
export interface ScopedDeadLetterFilter {
  /** One of these. */
  readonly reason?: readonly FailureReason[];
  readonly name?: string;
  readonly queue?: string;
  /** Ended at this instant or later. */
  readonly finishedFrom?: Date;
  /** Ended before this instant. */
  readonly finishedBefore?: Date;
  /** Also those that were interrupted: their last attempt may have done a part of its work, or all of it. @default false */
  readonly includeInterrupted?: boolean;
  /** Also those that were cancelled, which is a wish and no failure. @default false */
  readonly includeCancelled?: boolean;
}

export interface DeadLetterFilter extends ScopedDeadLetterFilter {
  /** Left out: of all scopes. */
  readonly scope?: string;
}

/**
 * Jobs that have ended in vain and wait for a person: the failed ones, and only where the filter says so the interrupted and the
 * cancelled ones. A view, no place of its own: a job that is retried is a job as before.
 *
 * Calls that change something take at most `limit` jobs, the newest first, judge each by itself, and with `preview` only count.
 */
export interface DeadLetters<Filter extends ScopedDeadLetterFilter = DeadLetterFilter> {
  /** The newest first. */
  list(filter?: Filter, page?: PageOptions): Promise<JobPage>;
  /** How many there are for each reason of which there are any. */
  count(filter?: Filter): Promise<Readonly<Partial<Record<FailureReason, number>>>>;
  /** Queues them again, their budget kept: one whose starts are spent is not affected. */
  retry(filter: Filter, options: BulkOptions): Promise<BulkAnswer>;
  /** Queues them again with a fresh budget. A payload is repaired one by one: `scope(s).resurrect(id, { repaired })`. */
  resurrect(filter: Filter, options: BulkOptions): Promise<BulkAnswer>;
  /**
   * Deletes them for good, with their attempts, and tells who did (`dead_letters_purged`); a request that comes again makes a new
   * job. One that an awaiting job waits for is not affected.
   */
  purge(filter: Filter, options: BulkOptions): Promise<BulkAnswer>;
}

/**
 * @param enter called before every call: refuses where it may not be made
 * @param scope whose they are; left out: those of all scopes
 */
export function deadLettersOf(
  store: JobStore & JobQueries,
  enter: (operation: string) => void,
  events: EventStream,
  scope?: string,
): DeadLetters {
  const enterWith = (operation: string, filter: DeadLetterFilter) => {
    enter(`deadLetters.${operation}()`);
    return filterOf(filter, scope);
  };

  return Object.freeze({
    list: async (filter: DeadLetterFilter = {}, page: PageOptions = {}) => {
      return listPage(store, enterWith('list', filter), page);
    },
    count: async (filter: DeadLetterFilter = {}) => {
      const counts = await store.countsByReason(enterWith('count', filter));
      return Object.freeze(Object.fromEntries(counts.map(({ reason, count }) => [reason, count])));
    },
    retry: async (filter: DeadLetterFilter, options: BulkOptions) => {
      return bulk(
        store,
        enterWith('retry', filter),
        options,
        async job => isBack(await retryAndTell(store, events, job, { actor: options.actor })),
        hasStartsLeft,
      );
    },
    resurrect: async (filter: DeadLetterFilter, options: BulkOptions) => {
      return bulk(store, enterWith('resurrect', filter), options, async job => {
        return isBack(await resurrectAndTell(store, events, job, { actor: options.actor }));
      });
    },
    purge: async (filter: DeadLetterFilter, options: BulkOptions) => {
      const found = enterWith('purge', filter);
      const answer = await bulkAtOnce(store, found, options, jobs => store.purge(jobs, statesOf(filter)));
      if (answer.affected > 0) {
        events.emit({ event: 'dead_letters_purged', actor: options.actor ?? null, purged: answer.affected });
      }

      return answer;
    },
  });
}

function hasStartsLeft({ attemptCount, attemptLimit }: JobSnapshot): boolean {
  return attemptCount < attemptLimit;
}

const filterFields: ReadonlyArray<keyof DeadLetterFilter> = ['scope', 'reason', 'name', 'queue', 'finishedFrom', 'finishedBefore', 'includeInterrupted', 'includeCancelled']; // prettier-ignore

/** @throws InvalidOptionError for a field that is none, so that a typo doesn't widen what is changed */
function filterOf(filter: DeadLetterFilter, scope: string | undefined): JobFilter {
  checkKnown(filter, scope === undefined ? filterFields : filterFields.filter(field => field !== 'scope'));
  const { reason, name, queue, finishedFrom, finishedBefore } = filter;

  return checkedFilter({
    states: statesOf(filter),
    ...(reason !== undefined && { reasons: checkedReasons(reason) }),
    ...(name !== undefined && { names: [checkedText('name', name)] }),
    ...(queue !== undefined && { queues: [checkedText('queue', queue)] }),
    ...(finishedFrom !== undefined && { finishedFrom }),
    ...(finishedBefore !== undefined && { finishedBefore }),
    ...(scope === undefined ? filter.scope !== undefined && { scope: filter.scope } : { scope }),
  });
}

function statesOf({ includeInterrupted = false, includeCancelled = false }: ScopedDeadLetterFilter) {
  for (const [option, value] of Object.entries({ includeInterrupted, includeCancelled })) {
    if (typeof value !== 'boolean') {
      throw new InvalidOptionError(option, 'be true or false', value);
    }
  }

  return [
    'failed',
    ...(includeInterrupted ? (['interrupted'] as const) : []),
    ...(includeCancelled ? (['cancelled'] as const) : []),
  ] as const;
}

function checkedReasons(reasons: unknown): readonly FailureReason[] {
  if (!areReasons(reasons)) {
    throw new InvalidOptionError('reason', `be a list of ${failureReasons.join(', ')}`, reasons);
  }

  return reasons;
}

function areReasons(value: unknown): value is readonly FailureReason[] {
  return Array.isArray(value) && value.every(reason => (failureReasons as readonly unknown[]).includes(reason));
}
