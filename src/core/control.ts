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
import type { EventStream } from './event-stream.ts';
import { checkKnown } from './known-options.ts';
import { asOption, checkedInstant, checkedReason, checkedText } from './option-checks.ts';
import type { RecurringStore } from './recurring.ts';
import { recurringControlOf, type RecurringControl } from './recurring-control.ts';
import { deadLettersOf, type DeadLetters, type ScopedDeadLetterFilter } from './dead-letters.ts';
import type { Duration } from './duration.ts';
import type { JobFilter, JobQueries } from './queries.ts';
import { checkedScope } from './scope.ts';
import type { AttemptSnapshot, JobSnapshot } from './snapshot.ts';
import { checkedActor, type ActorOption } from './queue-control.ts';
import type { CancelAnswer, JobStore, Resurrection, ResurrectAnswer, RetryAnswer, RunNowAnswer } from './store.ts';
import { checkedSubmission, type Submission } from './submission.ts';
import { checkedId, checkedPriority } from './submission-checks.ts';
import { cancelAndTell, resurrectAndTell, retryAndTell } from './told.ts';
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
  cancel(id: string, options?: { readonly reason?: string } & ActorOption): Promise<CancelAnswer>;

  /**
   * Queues a failed, cancelled or interrupted job again, its budget kept: `no_starts_left` when it is spent.
   *
   * @param options.at when it may start. @default now
   */
  retry(id: string, options?: { readonly at?: Date } & ActorOption): Promise<RetryAnswer>;

  /**
   * The same with a fresh budget: as many starts as were submitted are allowed again, no failure is counted and no lifetime
   * limits its retries. For operators; once for all who ask at the same time. The answer to a repeated request stays the same.
   *
   * @throws RepairMismatchError when the repaired payload is of another definition, or of another version
   */
  resurrect(id: string, options?: ResurrectOptions): Promise<ResurrectAnswer>;

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
  runNow(id: string, options?: ActorOption): Promise<RunNowAnswer>;

  /** Jobs of this scope that have ended in vain. */
  readonly deadLetters: DeadLetters<ScopedDeadLetterFilter>;
}

export interface ResurrectOptions extends ActorOption {
  /**
   * Made by the job's own definition, so its payload is one that the schema takes: `chargeCard.create({ … })`. Only the payload of
   * it is used; it is run in the place of the submitted one from now on.
   */
  readonly repaired?: Submission;
  /** @default what it had */
  readonly priority?: number;
  /** Moves the job to another queue. @default where it was */
  readonly queue?: string;
}

/** @param enter called before every call: refuses where it may not be made */
export function controlOf(
  scope: string,
  stores: { readonly jobs: JobStore & JobQueries; readonly recurring: RecurringStore },
  clock: Clock,
  enter: (operation: string) => void,
  events: EventStream,
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
    cancel: async (id: string, options: { readonly reason?: string } & ActorOption = {}) => {
      const key = keyFor('cancel', id);
      const { reason, actor } = checkKnown(options, ['reason', 'actor']);
      return cancelAndTell(store, events, key, { reason: checkedReason(reason), ...actorOf(actor) });
    },
    retry: async (id: string, options: { readonly at?: Date } & ActorOption = {}) => {
      const key = keyFor('retry', id);
      const { at, actor } = checkKnown(options, ['at', 'actor']);
      const when = at === undefined ? undefined : checkedInstant('at', at);
      return retryAndTell(store, events, key, { at: when, ...actorOf(actor) });
    },
    resurrect: async (id: string, options: ResurrectOptions = {}) => {
      const key = keyFor('resurrect', id);
      return resurrectAndTell(store, events, key, resurrectionFor(options));
    },
    runNow: async (id: string, options: ActorOption = {}) => {
      const key = keyFor('runNow', id);
      return store.runNow(key, actorOf(checkKnown(options, ['actor']).actor));
    },
    deadLetters: deadLettersOf(store, enter, events, checked),
  });
}

/** @throws InvalidOptionError naming the option */
function resurrectionFor(options: ResurrectOptions): Resurrection {
  const { repaired, priority, queue, actor } = checkKnown(options, ['repaired', 'priority', 'queue', 'actor']);

  return {
    ...(repaired !== undefined && { repair: repairOf(repaired) }),
    ...(priority !== undefined && { priority: asOption('priority', priority, checkedPriority) }),
    ...(queue !== undefined && { queue: checkedText('queue', queue) }),
    ...actorOf(actor),
  };
}

function repairOf(repaired: Submission): Pick<Submission, 'name' | 'version' | 'payload'> {
  const { name, version, payload } = asOption('repaired', repaired, checkedSubmission);
  return { name, version, payload };
}

function actorOf(actor: string | undefined): ActorOption {
  return actor === undefined ? {} : { actor: checkedActor(actor)! };
}
