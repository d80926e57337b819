import type { JobKey } from '../core/job-key.ts';
import type { ResolveAnswer } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { StoredJob } from './stored-job.ts';

type Note = MemoryDatabase['noteResolved'];

/** Moves those of the candidates whose parents have all succeeded, or one of whose parents has ended in vain; at most so many. */
export function resolveJobs(
  database: MemoryDatabase,
  candidates: readonly JobKey[],
  limit: number,
  now: Micros,
  note: Note = (job, state) => database.noteResolved(job, state),
): ResolveAnswer {
  let moved = 0;
  let queued = 0;
  let cancelled = 0;

  for (const key of candidates) {
    const job = database.jobs.get(key);
    const verdict = job?.state === 'awaiting' && moved < limit ? verdictFor(database, job) : 'waits';

    if (verdict === 'ready') {
      database.jobs.update(job!, { state: 'queued', failureReason: null });
      note(job!, 'queued');
      queued++;
      moved++;
    } else if (verdict === 'dead') {
      cancelled += cancelWithDescendants(database, job!, now, note);
      moved++;
    }
  }

  return { queued, cancelled };
}

/** After a job has ended. */
export function resolveChildren(database: MemoryDatabase, parent: JobKey, now: Micros): void {
  resolveJobs(database, database.jobs.childrenOf(parent), Infinity, now);
}

/** What the parents say. An interrupted one keeps its children waiting; one that is gone has ended in vain. */
export function verdictFor(database: MemoryDatabase, { scope, after }: StoredJob): 'ready' | 'dead' | 'waits' {
  const states = after.map(id => database.jobs.get({ scope, id })?.state ?? 'cancelled');
  if (states.some(state => state === 'failed' || state === 'cancelled')) {
    return 'dead';
  }

  return states.every(state => state === 'succeeded') ? 'ready' : 'waits';
}

/** @returns how many were cancelled */
function cancelWithDescendants(database: MemoryDatabase, job: StoredJob, now: Micros, note: Note): number {
  const reached = new Map([[job.id, job]]);

  // A map's loop comes to what was added meanwhile, too.
  for (const each of reached.values()) {
    database.jobs.update(each, {
      state: 'cancelled',
      failureReason: 'cancelled_by_parent',
      finishedAt: now,
      heldKey: null,
    });
    note(each, 'cancelled');
    for (const child of database.jobs.childrenOf(each)) {
      if (child.state === 'awaiting' && !reached.has(child.id)) {
        reached.set(child.id, child);
      }
    }
  }

  return reached.size;
}
