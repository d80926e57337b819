import type { CreationClock } from '../core/clock.ts';
import { dueLanesOf } from '../core/due-lane.ts';
import { nextTurn, settledTurn } from '../core/next-turn.ts';
import type { JobSnapshot, StageResult } from '../core/snapshot.ts';
import type { Submission } from '../core/submission.ts';
import { isRefusal } from './database-errors.ts';
import { dueHint, type Hints } from './hint-channel.ts';
import { chunksOf } from './inserts.ts';
import { newJobRow, rowKey, snapshotOfNew, type NewJobRow } from './job-row.ts';
import type { Session } from './session.ts';
import type { JobKeyRow } from './sql/dialect.ts';
import { insertNewJobs } from './sql/shared/insert-new-jobs.ts';

export interface JointSubmitsParts {
  /** A session for one group. */
  readonly session: () => Session;
  readonly creationClock: CreationClock;
  readonly hints: Pick<Hints, 'send'>;
  /** Submits one by itself. */
  readonly alone: (submission: Submission) => Promise<StageResult>;
}

interface Entry {
  readonly submission: Submission;
  readonly row: NewJobRow;
  readonly answer: PromiseWithResolvers;
}

interface PromiseWithResolvers {
  readonly promise: Promise<StageResult>;
  readonly resolve: (result: StageResult | Promise<StageResult>) => void;
  readonly reject: (error: unknown) => void;
}

/** One group waits for another so long and no longer: what holds that one up needn't hold up this one. */
const patienceMs = 20;

/**
 * Submits of one moment, each by a call of its own, in one statement: ten requests at once are one commit instead of ten. Only for
 * submissions whose identity is nobody else's, so that none waits for a lock on account of another. Each is stored or not by
 * itself: what the statement didn't insert, or was refused with, is submitted alone.
 */
export class JointSubmits {
  readonly #parts: JointSubmitsParts;
  #due: Entry[] = [];
  #sending: Promise<void> | null = null;

  constructor(parts: JointSubmitsParts) {
    this.#parts = parts;
  }

  submit(submission: Submission): Promise<StageResult> {
    const { creationClock } = this.#parts;
    // Created in the order of the calls, whatever goes with which group.
    const times = { now: creationClock.now(), createdAt: creationClock.next() };
    const entry = { submission, row: newJobRow(submission, times, null), answer: withResolvers() };

    this.#due.push(entry);
    this.#sending ??= this.#sendAll();

    return entry.answer.promise;
  }

  async #sendAll(): Promise<void> {
    // What several callers submit then goes together.
    await settledTurn();
    for (;;) {
      const groups = [...chunksOf(this.#due)];
      this.#due = [];
      await within(patienceMs, Promise.all(groups.map(group => this.#send(group))));
      if (this.#due.length === 0) {
        break;
      }
      await nextTurn();
    }
    this.#sending = null;
  }

  async #send(group: readonly Entry[]): Promise<void> {
    try {
      const inserted = await this.#insert(group);
      if (inserted.size > 0) {
        this.#parts.hints.send(dueHint(dueLanesOf([...inserted.values()])));
      }
      group.forEach(entry => this.#answer(entry, inserted));
    } catch (error) {
      group.forEach(entry => this.#refuse(entry, group.length, error));
    }
  }

  async #insert(group: readonly Entry[]): Promise<Map<NewJobRow, JobSnapshot>> {
    // The same object twice in a group: the first is inserted, the second finds it there.
    const rows = new Map([...group].reverse().map(({ row }) => [rowKey(row), row]));
    const { tables, write } = this.#parts.session();
    const inserted = (await write(insertNewJobs(tables, [...rows.values()]))) as JobKeyRow[];

    return new Map(inserted.map(key => rows.get(rowKey(key))!).map(row => [row, snapshotOfNew(row)]));
  }

  #answer({ submission, row, answer }: Entry, inserted: ReadonlyMap<NewJobRow, JobSnapshot>): void {
    const job = inserted.get(row);
    answer.resolve(
      job === undefined ? this.#parts.alone(submission) : Object.freeze({ job, created: true, matched: 'none' }),
    );
  }

  #refuse({ submission, answer }: Entry, groupSize: number, error: unknown): void {
    if (groupSize > 1 && isRefusal(error)) {
      answer.resolve(this.#parts.alone(submission));
    } else {
      answer.reject(error);
    }
  }
}

/** Resolves with the work, or after so many ms. */
function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function withResolvers(): PromiseWithResolvers {
  let resolve!: PromiseWithResolvers['resolve'];
  let reject!: PromiseWithResolvers['reject'];
  const promise = new Promise<StageResult>((...functions) => ([resolve, reject] = functions));

  return { promise, resolve, reject };
}
