import type { Clock } from './clock.ts';
import { InvalidOptionError } from './errors.ts';
import type { JobKey } from './job-key.ts';
import { checkKnown } from './known-options.ts';
import { asOption, checkedInteger } from './option-checks.ts';
import type { Overlap, RecurringJob, RecurringStore, RecurringUpsert } from './recurring.ts';
import { checkedMissed, Schedule, type Missed } from './schedule.ts';
import type { JobState } from './states.ts';
import type { JobSnapshot } from './snapshot.ts';
import { checkedId } from './submission-checks.ts';
import { checkedSubmission, type Submission } from './submission.ts';
import { dateOf, type Micros } from './time.ts';

/** When a recurring job comes, and what it makes. */
export interface RecurringOptions {
  /** Five fields, or six with seconds first: `'0 3 * * *'`. Names, steps, ranges and lists as usual. */
  readonly cron: string;
  /** IANA name of the zone in which the expression is read; never the machine's. @default 'UTC' */
  readonly timeZone?: string;
  /**
   * What becomes of occurrences that no executor fired within a minute: `'one'` makes up for the latest, `'none'` for none,
   * `{ upTo }` for the latest so many, each as a job of its own. @default 'one'
   */
  readonly missed?: Missed;
  /** While an earlier job of it is active: `'skip'` leaves the occurrence out, `'queue'` makes the job anyway. @default 'queue' */
  readonly overlap?: Overlap;
  /** The job of each occurrence: payload, queue and the like. Its id, due time, unique key and parents must be left out. */
  readonly job: Submission;
}

/** A recurring job, as it was when it was read. */
export interface RecurringSnapshot {
  readonly scope: string;
  readonly id: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly name: string;
  readonly version: string;
  readonly queue: string;
  readonly missed: Missed;
  readonly overlap: Overlap;
  readonly isPaused: boolean;
  readonly nextFireAt: Date | null;
  readonly lastFireAt: Date | null;
  /** The state of the job that it made last; null: it has made none, or that one is gone. */
  readonly lastState: JobState | null;
  /** The next ones, if nothing is paused or changed meanwhile. */
  readonly occurrences: readonly Date[];
}

export interface OccurrencesOption {
  /** How many of the next occurrences to list for each, 0 to 100. @default 1 */
  readonly occurrences?: number;
}

/** The recurring jobs of one scope, which is the scope of the jobs that they make. */
export interface RecurringControl {
  /**
   * Makes a recurring job, or brings a stored one up to date; its next occurrence stays unless cron or time zone changed.
   *
   * @param id like a job's
   * @throws InvalidOptionError naming what can't be
   */
  upsert(id: string, options: RecurringOptions): Promise<void>;
  /** After a deployment: exactly these are there, the others of the scope are removed. Answers the ids of the removed. */
  replaceAll(jobs: Readonly<Record<string, RecurringOptions>>): Promise<string[]>;
  get(id: string, options?: OccurrencesOption): Promise<RecurringSnapshot | null>;
  /** Soonest first. */
  list(options?: OccurrencesOption): Promise<RecurringSnapshot[]>;
  /** No more occurrences until it is resumed. False: unknown. */
  pause(id: string): Promise<boolean>;
  /** Goes on with the next occurrence from now; what passed meanwhile is not made up for. False: unknown. */
  resume(id: string): Promise<boolean>;
  /** Jobs that it made stay. False: unknown. */
  remove(id: string): Promise<boolean>;
  /** Makes one job of it now and leaves the schedule as it is. Null: unknown. */
  runNow(id: string): Promise<JobSnapshot | null>;
}

const maxOccurrences = 100;
const knownOptions = ['cron', 'timeZone', 'missed', 'overlap', 'job'] satisfies Array<keyof RecurringOptions>;

/** @param enter called before every call: refuses where it may not be made */
export function recurringControlOf(
  scope: string,
  store: RecurringStore,
  clock: Clock,
  enter: (operation: string) => void,
): RecurringControl {
  const keyFor = (operation: string, id: string) => {
    enter(`recurring.${operation}()`);
    return { scope, id: asOption('id', id, checkedId) };
  };

  return Object.freeze({
    upsert: async (id: string, options: RecurringOptions) => {
      await store.upsertRecurring(upsertOf(keyFor('upsert', id), options, clock.now()));
    },
    replaceAll: async (jobs: Readonly<Record<string, RecurringOptions>>) => {
      enter('recurring.replaceAll()');
      if (typeof jobs !== 'object' || jobs === null || Array.isArray(jobs)) {
        throw new InvalidOptionError('jobs', 'be an object of recurring jobs by id', jobs);
      }
      const now = clock.now();
      const upserts = Object.entries(jobs).map(([id, options]) =>
        upsertOf({ scope, id: asOption('id', id, checkedId) }, options, now),
      );

      return store.replaceRecurring(scope, upserts);
    },
    get: async (id: string, options?: OccurrencesOption) => {
      const key = keyFor('get', id);
      const count = occurrencesOf(options);
      const job = await store.getRecurring(key);

      return job === null ? null : snapshotOf(job, clock.now(), count);
    },
    list: async (options?: OccurrencesOption) => {
      enter('recurring.list()');
      const count = occurrencesOf(options);

      return (await store.listRecurring(scope)).map(job => snapshotOf(job, clock.now(), count));
    },
    pause: async (id: string) => store.pauseRecurring(keyFor('pause', id)),
    resume: async (id: string) => resume(store, keyFor('resume', id), clock),
    remove: async (id: string) => store.removeRecurring(keyFor('remove', id)),
    runNow: async (id: string) => store.runRecurringNow(keyFor('runNow', id)),
  });
}

/** Read again when it was changed since: the next occurrence belongs to the cron and the time zone that are stored. */
async function resume(store: RecurringStore, key: JobKey, clock: Clock): Promise<boolean> {
  for (;;) {
    const job = await store.getRecurring(key);
    if (job === null) {
      return false;
    }

    const { cron, timeZone } = job;
    if (await store.resumeRecurring(key, { cron, timeZone, next: new Schedule(cron, timeZone).next(clock.now()) })) {
      return true;
    }
  }
}

function upsertOf(key: { scope: string; id: string }, options: RecurringOptions, now: Micros): RecurringUpsert {
  checkKnown(options, knownOptions);
  const { cron, timeZone = 'UTC', missed = 'one', overlap = 'queue', job } = options;
  const schedule = new Schedule(cron, timeZone);

  return {
    ...key,
    cron,
    timeZone,
    template: checkedTemplate(key.scope, job),
    missed: checkedMissed(missed),
    overlap: checkedOverlap(overlap),
    nextFireAt: schedule.next(now),
  };
}

function checkedTemplate(scope: string, job: Submission): Submission {
  const template = checkedSubmission(job);
  if (template.scope !== scope) {
    throw new InvalidOptionError('job.scope', `be '${scope}', the scope of the recurring job`, template.scope);
  }
  if (template.uniqueKey !== null || template.notBefore !== null || template.after.length > 0) {
    throw new InvalidOptionError(
      'job',
      'have no unique key, due time or parents: every occurrence makes a job of its own',
      template.id,
    );
  }

  return template;
}

function checkedOverlap(overlap: unknown): Overlap {
  if (overlap !== 'queue' && overlap !== 'skip') {
    throw new InvalidOptionError('overlap', `be 'queue' or 'skip'`, overlap);
  }

  return overlap;
}

function occurrencesOf(options: OccurrencesOption = {}): number {
  const { occurrences = 1 } = checkKnown(options, ['occurrences']);
  return checkedInteger('occurrences', occurrences, 0, maxOccurrences);
}

function snapshotOf(job: RecurringJob, now: Micros, count: number): RecurringSnapshot {
  const { scope, id, cron, timeZone, template, missed, overlap, isPaused, nextFireAt, lastFireAt, lastState } = job;

  return Object.freeze({
    scope,
    id,
    cron,
    timeZone,
    name: template.name,
    version: template.version,
    queue: template.queue,
    missed,
    overlap,
    isPaused,
    nextFireAt: nextFireAt === null ? null : dateOf(nextFireAt),
    lastFireAt: lastFireAt === null ? null : dateOf(lastFireAt),
    lastState,
    occurrences: Object.freeze(upcoming(job, now, count).map(dateOf)),
  });
}

/** None of an expression that can't be read any more: reading the others must go on. */
function upcoming({ cron, timeZone, nextFireAt }: RecurringJob, now: Micros, count: number): Micros[] {
  if (nextFireAt === null || count === 0) {
    return [];
  }

  try {
    const schedule = new Schedule(cron, timeZone);
    return nextFireAt > now
      ? [nextFireAt, ...schedule.occurrences(nextFireAt, count - 1)]
      : schedule.occurrences(now, count);
  } catch {
    return [];
  }
}
