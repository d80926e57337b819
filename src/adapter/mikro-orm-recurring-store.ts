import type { Clock, CreationClock } from '../core/clock.ts';
import type { JobKey } from '../core/job-key.ts';
import type { Firing, RecurringJob, RecurringStore, RecurringUpsert, Resumption } from '../core/recurring.ts';
import { scopeHash } from '../core/scope.ts';
import type { JobSnapshot } from '../core/snapshot.ts';
import type { Submission } from '../core/submission.ts';
import type { Micros } from '../core/time.ts';
import { insertOrGet } from './insert-or-get.ts';
import type { StoreParts } from './store-parts.ts';
import { occurrenceOf } from '../core/occurrence-of.ts';
import { toRecurringJob } from './recurring-row.ts';
import type { Run } from './session.ts';
import {
  listRecurring,
  moveRecurring,
  nextRecurring,
  pauseRecurring,
  readRecurring,
  removeOtherRecurring,
  removeRecurring,
  resumeRecurring,
  upsertRecurring,
} from './sql/shared/recurring.ts';

/** Recurring jobs on MikroORM. */
export class MikroOrmRecurringStore implements RecurringStore {
  readonly #parts: StoreParts;
  readonly #clock: Clock;
  readonly #creationClock: CreationClock;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#creationClock = parts.creationClock;
  }

  async upsertRecurring(job: RecurringUpsert): Promise<void> {
    const { session } = this.#parts;
    await session.write(upsertRecurring(session.tables, job, this.#clock.now()));
    this.#changed();
  }

  async replaceRecurring(scope: string, jobs: readonly RecurringUpsert[]): Promise<string[]> {
    const { session } = this.#parts;
    const removed = await session.atomically(async run => {
      for (const job of [...jobs].sort((a, b) => (a.id < b.id ? -1 : 1))) {
        await run(upsertRecurring(session.tables, job, this.#clock.now()));
      }

      return run(
        removeOtherRecurring(
          session.tables,
          scopeHash(scope),
          jobs.map(({ id }) => id),
        ),
      );
    });

    this.#changed();
    return removed.map(row => row.id as string);
  }

  async getRecurring({ scope, id }: JobKey): Promise<RecurringJob | null> {
    const { session } = this.#parts;
    const [row] = await session.read(readRecurring(session.tables, scopeHash(scope), id));

    return row === undefined ? null : toRecurringJob(row);
  }

  async listRecurring(scope: string): Promise<RecurringJob[]> {
    const { session } = this.#parts;
    return (await session.read(listRecurring(session.tables, scopeHash(scope)))).map(toRecurringJob);
  }

  async removeRecurring({ scope, id }: JobKey): Promise<boolean> {
    const { session } = this.#parts;
    return (await session.write(removeRecurring(session.tables, scopeHash(scope), id))).length > 0;
  }

  async pauseRecurring({ scope, id }: JobKey): Promise<boolean> {
    const { session } = this.#parts;
    const rows = await session.write(pauseRecurring(session.tables, scopeHash(scope), id, this.#clock.now()));

    this.#changed();
    return rows.length > 0;
  }

  async resumeRecurring({ scope, id }: JobKey, resumption: Resumption): Promise<boolean> {
    const { session } = this.#parts;
    const now = this.#clock.now();
    const rows = await session.write(resumeRecurring(session.tables, scopeHash(scope), id, resumption, now));

    this.#changed();
    return rows.length > 0;
  }

  async dueRecurring(limit: number): Promise<{ readonly due: RecurringJob[]; readonly nextFireAt: Micros | null }> {
    const { session } = this.#parts;
    const now = this.#clock.now();
    const soonest = (await session.read(nextRecurring(session.tables, limit + 1))).map(toRecurringJob);
    const due = soonest.filter(job => job.nextFireAt! <= now);

    return { due: due.slice(0, limit), nextFireAt: soonest[Math.min(due.length, limit)]?.nextFireAt ?? null };
  }

  async fire({
    key,
    expected,
    next,
    occurrences,
  }: Firing): Promise<{ readonly won: boolean; readonly created: number }> {
    const { session } = this.#parts;
    const fired = occurrences.at(-1) ?? null;

    const answer = await session.atomically(async run => {
      const [row] = await run(moveRecurring(session.tables, scopeHash(key.scope), key.id, { expected, next, fired }));
      if (row === undefined) {
        return { won: false, created: 0 };
      }

      const job = toRecurringJob(row);
      const results = await this.#insert(
        run,
        job.id,
        occurrences.map(occurrence => occurrenceOf(job, occurrence)),
      );
      return { won: true, created: results.filter(({ created }) => created).length };
    });

    if (answer.created > 0) {
      this.#parts.hints.send({ kind: 'due' });
    }
    return answer;
  }

  async runRecurringNow(key: JobKey): Promise<JobSnapshot | null> {
    const { session } = this.#parts;
    const job = await this.getRecurring(key);
    if (job === null) {
      return null;
    }

    const [result] = await session.atomically(run => this.#insert(run, job.id, [occurrenceOf(job, null)]));
    this.#parts.hints.send({ kind: 'due' });
    return result!.job;
  }

  #insert(run: Run, recurringId: string, submissions: readonly Submission[]) {
    const { dialect, session } = this.#parts;
    return insertOrGet({ dialect, tables: session.tables, run, recurringId }, submissions, this.#creationClock);
  }

  #changed(): void {
    this.#parts.hints.send({ kind: 'recurring' });
  }
}
