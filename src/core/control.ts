import {
  checkedFilter,
  filterFieldsInScope,
  listPage,
  summed,
  type JobCounts,
  type JobPage,
  type PageOptions,
} from './admin.ts';
import type { Clock } from './clock.ts';
import { checkKnown } from './known-options.ts';
import { asOption, checkedInstant, checkedReason } from './option-checks.ts';
import type { RecurringStore } from './recurring.ts';
import { recurringControlOf, type RecurringControl } from './recurring-control.ts';
import type { Duration } from './duration.ts';
import type { JobFilter, JobQueries } from './queries.ts';
import { checkedScope } from './scope.ts';
import type { AttemptSnapshot, JobSnapshot } from './snapshot.ts';
import type { CancelAnswer, JobStore, RetryAnswer, RunNowAnswer } from './store.ts';
import { checkedId } from './submission-checks.ts';
import { waitForEnd } from './wait.ts';

/**
 * Reads and control of one scope's jobs; nothing here can reach another scope. Each call is a transaction of its own and is
 * refused inside one of yours.
 */
export interface Control {
  readonly scope: string;

  /** The job, or null. */
  get(id: string): Promise<JobSnapshot | null>;

  /** All attempts of the job, the first one first. */
  attempts(id: string): Promise<AttemptSnapshot[]>;

  /**
   * Cancels the job. `cancelled`: it is, and will not start. `requested`: it is running; its handler's signal fires, and whatever it
   * does, the job ends cancelled without a result. `finished`: it had ended before. Cancelling again changes nothing.
   *
   * @param options.reason for people, up to 1 KiB as UTF-8
   */
  cancel(id: string, options?: { readonly reason?: string }): Promise<CancelAnswer>;

  /**
   * Queues a failed, cancelled or interrupted job again, its budget kept: `no_starts_left` when it is spent.
   *
   * @param options.at when it may start. @default now
   */
  retry(id: string, options?: { readonly at?: Date }): Promise<RetryAnswer>;

  /** Jobs of this scope, the newest first. */
  list(filter?: Omit<JobFilter, 'scope'>, page?: PageOptions): Promise<JobPage>;

  /** How many jobs of this scope there are. */
  counts(filter?: Omit<JobFilter, 'scope'>): Promise<JobCounts>;

  /**
   * Waits until the job has ended, by looking again and again: for scripts and tests, not for requests.
   *
   * @throws WaitTimeoutError when it hadn't ended in time
   */
  wait(id: string, options: { readonly timeout: Duration }): Promise<JobSnapshot>;

  /** Recurring jobs of this scope. */
  readonly recurring: RecurringControl;

  /** Makes a queued job due now, one that waits for its retry too. `not_queued`: it runs, has ended, or waits for others. */
  runNow(id: string): Promise<RunNowAnswer>;
}

/** @param enter called before every call: refuses where it may not be made */
export function controlOf(
  scope: string,
  stores: { readonly jobs: JobStore & JobQueries; readonly recurring: RecurringStore },
  clock: Clock,
  enter: (operation: string) => void,
): Control {
  const store = stores.jobs;
  const checked = asOption('scope', scope, checkedScope);
  const keyFor = (operation: string, id: string) => {
    enter(`${operation}()`);
    return { scope: checked, id: asOption('id', id, checkedId) };
  };

  return Object.freeze({
    scope: checked,
    recurring: recurringControlOf(checked, stores.recurring, clock, enter),
    get: async (id: string) => store.get(keyFor('get', id)),
    list: async (filter: Omit<JobFilter, 'scope'> = {}, page: PageOptions = {}) => {
      enter('list()');
      return listPage(store, { ...checkedFilter(filter, filterFieldsInScope), scope: checked }, page);
    },
    counts: async (filter: Omit<JobFilter, 'scope'> = {}) => {
      enter('counts()');
      return summed(await store.counts({ ...checkedFilter(filter, filterFieldsInScope), scope: checked }));
    },
    wait: async (id: string, options: { readonly timeout: Duration }) => {
      const key = keyFor('wait', id);
      const { timeout } = checkKnown(options, ['timeout']);
      return waitForEnd(key, () => store.get(key), timeout);
    },
    attempts: async (id: string) => store.attempts(keyFor('attempts', id)),
    cancel: async (id: string, options: { readonly reason?: string } = {}) => {
      const key = keyFor('cancel', id);
      const { reason } = checkKnown(options, ['reason']);
      return store.cancel(key, { reason: checkedReason(reason) });
    },
    retry: async (id: string, options: { readonly at?: Date } = {}) => {
      const key = keyFor('retry', id);
      const { at } = checkKnown(options, ['at']);
      return store.retry(key, { at: at === undefined ? undefined : checkedInstant('at', at) });
    },
    runNow: async (id: string) => store.runNow(keyFor('runNow', id)),
  });
}
