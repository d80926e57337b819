import type { JobKey } from '../core/job-key.ts';
import type { Micros } from '../core/time.ts';
import type { ResolvedJob } from '../core/told.ts';
import { JobTable } from './job-table.ts';
import { Journal } from './journal.ts';
import { attemptKeyOf } from './keys.ts';
import { LocalHints } from './local-hints.ts';
import type { StoredKey } from './memory-idempotency-store.ts';
import type { StoredAttempt } from './stored-attempt.ts';
import type { StoredJob } from './stored-job.ts';
import type { StoredExecutor } from './stored-executor.ts';
import type { StoredRecurringJob } from './stored-recurring-job.ts';
import { Table } from './table.ts';

export interface StoredQueue {
  readonly name: string;
  readonly isPaused: boolean;
  readonly maxRunning: number | null;
  readonly changedBy: string | null;
  readonly updatedAt: Micros;
}

/**
 * What the memory stores keep, in place of a database: several stores may work on one of these. Nothing of it survives
 * the process.
 */
export class MemoryDatabase {
  readonly #journal = new Journal();
  #isSomethingQueued = false;
  #isRoomMade = false;
  #resolved: ResolvedJob[] = [];

  readonly jobs = new JobTable(this.#journal, (before, after) => {
    this.#isSomethingQueued ||= after?.state === 'queued';
    this.#isRoomMade ||= before?.state === 'running' && after?.state !== 'running' && this.#isCapped(before.queue);
  });
  /** By `attemptKeyOf`. */
  readonly attempts = new Table<StoredAttempt>(this.#journal);
  /** By id. */
  readonly executors = new Table<StoredExecutor>(this.#journal);
  /** By name; a queue that isn't here has the defaults. */
  readonly queues = new Table<StoredQueue>(this.#journal);
  /** By `keyOf`. */
  readonly recurring = new Table<StoredRecurringJob>(this.#journal);
  /** By hash. */
  readonly keys = new Table<StoredKey>(this.#journal);
  readonly hints = new LocalHints();
  /** Hears of jobs that waited for parents, when the atom that moved them is over. */
  onResolved: (jobs: readonly ResolvedJob[]) => void = () => {};

  /** One atom: all of its writes are made, and executors told of what they may start, or it throws and none is. */
  atomically<T>(work: () => T): T {
    this.#isSomethingQueued = false;
    this.#isRoomMade = false;
    this.#resolved = [];
    const result = this.#journal.atomically(work);

    const resolved = this.#resolved;
    const isRoomMade = this.#isRoomMade;
    if (this.#isSomethingQueued) {
      this.hints.send({ kind: 'due' });
    }
    if (isRoomMade) {
      this.hints.send({ kind: 'room' });
    }
    this.onResolved(resolved);
    return result;
  }

  #isCapped(queue: string): boolean {
    return (this.queues.get(queue)?.maxRunning ?? null) !== null;
  }

  /** To be called in an atom. */
  noteResolved({ scope, id, name, version, queue }: StoredJob, state: ResolvedJob['state']): void {
    this.#resolved.push({ scope, id, name, version, queue, state });
  }

  /** One attempt and nothing else: as a person with a database client can, behind the stores' back. */
  deleteAttempt(attempt: JobKey & { readonly attempt: number }): void {
    this.attempts.delete(attemptKeyOf(attempt));
  }

  /** A job with its attempts; jobs that name it as their parent stay, and go on naming it. */
  deleteJob({ scope, id }: JobKey): void {
    for (let attempt = this.jobs.get({ scope, id })?.attemptCount ?? 0; attempt > 0; attempt--) {
      this.deleteAttempt({ scope, id, attempt });
    }
    this.jobs.delete({ scope, id });
  }
}
