import { checkKnown } from './known-options.ts';
import { checkedInstant, checkedInteger, checkedReason, checkedText, asOption } from './option-checks.ts';
import { checkedActor, type ActorOption } from './queue-control.ts';
import type { EventStream } from './event-stream.ts';
import { cancelAndTell } from './told.ts';
import { cursorOf, positionOf } from './cursor.ts';
import { InvalidOptionError } from './errors.ts';
import { failureReasons } from './failure-reason.ts';
import type { Backlog, ExecutorSnapshot, JobCount, JobFilter, JobQueries } from './queries.ts';
import type { QueueStore } from './queues.ts';
import { checkedScope } from './scope.ts';
import type { JobSnapshot } from './snapshot.ts';
import { activeStates, jobStates, type JobState } from './states.ts';
import type { JobStore } from './store.ts';

export interface PageOptions {
  /** The `next` of the page before. */
  readonly cursor?: string;
  /** 1 to 200. @default 50 */
  readonly limit?: number;
}

export interface JobPage {
  /** The newest first. */
  readonly jobs: readonly JobSnapshot[];
  /** Null: this was the last page. */
  readonly next: string | null;
}

/** How many jobs there are; every state is there, also with none. */
export interface JobCounts {
  readonly total: number;
  readonly byState: Readonly<Record<JobState, number>>;
  /** For each queue, definition and state that has any. */
  readonly details: readonly JobCount[];
}

/** How far a queue is behind. */
export interface QueueLag {
  readonly queue: string;
  /** Jobs that are due now. */
  readonly due: number;
  /** How long the first of them has been due, in ms. What is scheduled for later is not late. */
  readonly lagMs: number;
  readonly isPaused: boolean;
  readonly maxRunning: number | null;
}

/** Queued jobs that no active executor would take: of a definition, or in a queue, that none of them serves. */
export interface UnknownJobs {
  readonly queue: string;
  readonly name: string;
  readonly version: string;
  readonly queued: number;
}

export interface BulkOptions extends ActorOption {
  /** Who does it. Jobs keep no name of it: log it where it matters. Up to 255 characters. */
  readonly actor?: string;
  /** At most so many jobs, 1 to 1,000, the newest first. */
  readonly limit: number;
  /** Only counts; nothing is changed. @default false */
  readonly preview?: boolean;
}

/** What a bulk call found, and what it changed: each job is judged by itself. */
export interface BulkAnswer {
  readonly matched: number;
  /** With `preview`: how many would be, if none of them is held back by jobs that it waits for or that wait for it. */
  readonly affected: number;
}

/** What operators need: reads and actions over all scopes. Not for code that acts for one tenant; that has `jobs.scope(s)`. */
export interface Admin {
  list(filter?: JobFilter, page?: PageOptions): Promise<JobPage>;
  counts(filter?: JobFilter): Promise<JobCounts>;
  /** Queues that have something due, the latest first. */
  lag(): Promise<QueueLag[]>;
  /** @param options.all also those that stopped or were declared dead. @default false */
  executors(options?: { readonly all?: boolean }): Promise<ExecutorSnapshot[]>;
  /** What would wait for ever, since nobody knows it. */
  unknown(): Promise<UnknownJobs[]>;
  /** Cancels what matches and hasn't ended. */
  cancelAll(filter: JobFilter, options: BulkOptions & { readonly reason?: string }): Promise<BulkAnswer>;
}

const defaultLimit = 50;
const maxLimit = 200;
const maxBulk = 1000;

/** @param enter called before every call: refuses where it may not be made */
export function adminOf(
  store: JobStore & JobQueries,
  queues: QueueStore,
  enter: (operation: string) => void,
  events: EventStream,
): Admin {
  return Object.freeze({
    list: async (filter: JobFilter = {}, page: PageOptions = {}) => {
      enter('admin.list()');
      return listPage(store, checkedFilter(filter), page);
    },
    counts: async (filter: JobFilter = {}) => {
      enter('admin.counts()');
      return summed(await store.counts(checkedFilter(filter)));
    },
    lag: async () => {
      enter('admin.lag()');
      return lagOf(await store.backlog(), await queues.queueSettings());
    },
    executors: async (options: { readonly all?: boolean } = {}) => {
      enter('admin.executors()');
      const { all = false } = checkKnown(options, ['all']);
      return store.executors({ onlyActive: !all });
    },
    unknown: async () => {
      enter('admin.unknown()');
      return unknownOf(await store.counts({ states: ['queued'] }), await store.executors({ onlyActive: true }));
    },
    cancelAll: async (filter: JobFilter, options: BulkOptions & { readonly reason?: string }) => {
      enter('admin.cancelAll()');
      const { reason, ...bulkOptions } = checkKnown(options, [...knownBulkOptions, 'reason']);
      const why = { reason: checkedReason(reason), actor: bulkOptions.actor };
      return bulk(store, active(checkedFilter(filter)), bulkOptions, async job => {
        return ['cancelled', 'requested'].includes(await cancelAndTell(store, events, job, why));
      });
    },
  });
}

/** One page, and where the next one begins. */
export async function listPage(store: JobQueries, filter: JobFilter, options: PageOptions): Promise<JobPage> {
  const { cursor, limit = defaultLimit } = checkKnown(options, ['cursor', 'limit']);
  checkedInteger('limit', limit, 1, maxLimit);

  const after = cursor === undefined ? null : positionOf(cursor);
  const listed = await store.list(filter, { after, limit: limit + 1 });
  const page = listed.slice(0, limit);

  return Object.freeze({
    jobs: Object.freeze(page.map(({ job }) => job)),
    next: listed.length > limit ? cursorOf(page.at(-1)!.position) : null,
  });
}

export function summed(details: readonly JobCount[]): JobCounts {
  const byState = Object.fromEntries(
    jobStates.map(state => [state, sum(details.filter(detail => detail.state === state))]),
  ) as Record<JobState, number>;

  return Object.freeze({ total: sum(details), byState: Object.freeze(byState), details: Object.freeze([...details]) });
}

export const filterFieldsInScope: ReadonlyArray<keyof JobFilter> = [
  'states', 'queues', 'names', 'reasons', 'recurringId', 'createdFrom', 'createdBefore', 'finishedFrom', 'finishedBefore',
]; // prettier-ignore
const filterFields: ReadonlyArray<keyof JobFilter> = ['scope', ...filterFieldsInScope];
const knownBulkOptions: ReadonlyArray<keyof BulkOptions> = ['limit', 'preview', 'actor'];

/** @throws InvalidOptionError for a field that is none, so that a typo doesn't widen what is cancelled */
export function checkedFilter(filter: JobFilter, fields = filterFields): JobFilter {
  checkKnown(filter, fields);
  checkList(filter, 'states', jobStates);
  checkList(filter, 'reasons', failureReasons);
  checkNames('queues', filter.queues);
  checkNames('names', filter.names);
  for (const instant of ['createdFrom', 'createdBefore', 'finishedFrom', 'finishedBefore'] as const) {
    if (filter[instant] !== undefined) {
      checkedInstant(instant, filter[instant]);
    }
  }
  if (filter.recurringId !== undefined) {
    checkedText('recurringId', filter.recurringId);
  }
  if (filter.scope !== undefined) {
    asOption('scope', filter.scope, checkedScope);
  }

  return filter;
}

function checkList(filter: JobFilter, field: 'states' | 'reasons', known: readonly unknown[]): void {
  const values: readonly unknown[] | undefined = filter[field];
  if (values !== undefined && !(Array.isArray(values) && values.every(value => known.includes(value)))) {
    throw new InvalidOptionError(field, `be a list of ${known.join(', ')}`, values);
  }
}

/** A database would refuse, or read as another name, what can be none. */
function checkNames(field: 'queues' | 'names', values: readonly string[] | undefined): void {
  if (values !== undefined && !Array.isArray(values)) {
    throw new InvalidOptionError(field, 'be a list of texts', values);
  }
  values?.forEach((value: string) => checkedText(field, value));
}

/** Finds what matches and, unless that is all that was asked, acts on each job by itself. */
export async function bulk(
  store: JobQueries,
  filter: JobFilter,
  options: BulkOptions,
  act: (job: JobSnapshot) => Promise<boolean>,
  would: (job: JobSnapshot) => boolean = () => true,
): Promise<BulkAnswer> {
  const actOnEach = async (jobs: readonly JobSnapshot[]) => {
    let affected = 0;
    for (const job of jobs) {
      affected += (await act(job)) ? 1 : 0;
    }

    return affected;
  };

  return bulkAtOnce(store, filter, options, actOnEach, would);
}

/** The same with one call for all of them. */
export async function bulkAtOnce(
  store: JobQueries,
  filter: JobFilter,
  options: BulkOptions,
  act: (jobs: readonly JobSnapshot[]) => Promise<number>,
  would: (job: JobSnapshot) => boolean = () => true,
): Promise<BulkAnswer> {
  const { limit, preview = false, actor } = checkKnown(options, knownBulkOptions);
  checkedActor(actor);
  checkedInteger('limit', limit, 1, maxBulk);

  const matching = (await store.list(filter, { after: null, limit })).map(({ job }) => job);

  return { matched: matching.length, affected: preview ? matching.filter(would).length : await act(matching) };
}

function active(filter: JobFilter): JobFilter {
  return { ...filter, states: activeStates.filter(state => filter.states?.includes(state) ?? true) };
}

export function lagOf(
  backlog: readonly Backlog[],
  settings: Awaited<ReturnType<QueueStore['queueSettings']>>,
): QueueLag[] {
  return backlog
    .map(({ queue, due, lag }) => {
      const own = settings.find(({ name }) => name === queue);
      return {
        queue,
        due,
        lagMs: Math.floor(lag / 1000),
        isPaused: own?.isPaused ?? false,
        maxRunning: own?.maxRunning ?? null,
      };
    })
    .sort((a, b) => b.lagMs - a.lagMs);
}

function unknownOf(queued: readonly JobCount[], executors: readonly ExecutorSnapshot[]): UnknownJobs[] {
  const isServed = ({ queue, name, version }: JobCount) =>
    executors.some(
      executor =>
        (executor.queues?.includes(queue) ?? true) &&
        (executor.definitions?.some(known => known.name === name && known.version === version) ?? true),
    );

  return queued
    .filter(count => !isServed(count))
    .map(({ queue, name, version, count }) => ({ queue, name, version, queued: count }));
}

function sum(counts: readonly JobCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
