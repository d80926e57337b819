import type { JobKey } from '../core/job-key.ts';
import { jobStates, type JobState } from '../core/states.ts';
import { checkJob } from './check-job.ts';
import type { Journal } from './journal.ts';
import { keyOf } from './keys.ts';
import type { StoredJob } from './stored-job.ts';
import { Table } from './table.ts';

/** All jobs, and ways to find them: by state, by the unique key that they hold, by a parent. */
export class JobTable {
  readonly #rows: Table<StoredJob>;
  readonly #byState = new Map<JobState, Map<string, StoredJob>>(jobStates.map(state => [state, new Map()]));
  readonly #holders = new Map<string, string>();
  readonly #children = new Map<string, Set<string>>();

  /** @param onWritten called with every job as it was and as it is; undefined where there was or is none */
  constructor(journal: Journal, onWritten: (before: StoredJob | undefined, after: StoredJob | undefined) => void) {
    this.#rows = new Table(journal, (before, after) => {
      this.#index(before, after);
      onWritten(before, after);
    });
  }

  get(key: JobKey): StoredJob | undefined {
    return this.#rows.get(keyOf(key));
  }

  all(): StoredJob[] {
    return this.#rows.all();
  }

  inState(state: JobState): StoredJob[] {
    return [...this.#byState.get(state)!.values()];
  }

  /** The active job that holds a unique key. */
  holderOf(heldKey: string): StoredJob | undefined {
    const holder = this.#holders.get(heldKey);
    return holder === undefined ? undefined : this.#rows.get(holder);
  }

  childrenOf(parent: JobKey): StoredJob[] {
    return [...(this.#children.get(keyOf(parent)) ?? [])].map(child => this.#rows.get(child)!);
  }

  insert(job: StoredJob): void {
    checkJob(job);
    this.#rows.put(keyOf(job), job);
  }

  /** One write of a job that was read in the same atom. */
  update(job: StoredJob, changes: Partial<StoredJob>): StoredJob {
    const changed = { ...job, ...changes, revision: job.revision + 1 };
    checkJob(changed);
    this.#rows.put(keyOf(job), changed);

    return changed;
  }

  /** Its children have nothing left to wait for; that is no write of theirs. */
  release(parent: JobKey): void {
    for (const child of this.childrenOf(parent)) {
      this.#rows.put(keyOf(child), { ...child, after: Object.freeze(child.after.filter(id => id !== parent.id)) });
    }
  }

  delete(key: JobKey): void {
    this.#rows.delete(keyOf(key));
  }

  #index(before: StoredJob | undefined, after: StoredJob | undefined): void {
    if (before !== undefined) {
      const key = keyOf(before);
      this.#byState.get(before.state)!.delete(key);
      if (before.heldKey !== null) {
        this.#holders.delete(before.heldKey);
      }
      before.after.forEach(id => this.#children.get(keyOf({ scope: before.scope, id }))?.delete(key));
    }

    if (after !== undefined) {
      const key = keyOf(after);
      this.#byState.get(after.state)!.set(key, after);
      if (after.heldKey !== null) {
        this.#holders.set(after.heldKey, key);
      }
      after.after.forEach(id => this.#childrenUnder(keyOf({ scope: after.scope, id })).add(key));
    }
  }

  #childrenUnder(parent: string): Set<string> {
    const children = this.#children.get(parent) ?? new Set<string>();
    this.#children.set(parent, children);

    return children;
  }
}
