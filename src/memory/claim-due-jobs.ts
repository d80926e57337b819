import type { Attempt } from '../core/attempt.ts';
import type { ClaimAnswer, ClaimRequest } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import { isActive } from './executors.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { QueueRooms } from './queue-rooms.ts';
import { startJob } from './start-job.ts';
import type { StoredJob } from './stored-job.ts';

/** Starts what is due, the most urgent first, below the caps of the queues; nothing for an executor that isn't active. */
export function claimDueJobs(database: MemoryDatabase, request: ClaimRequest, now: Micros): ClaimAnswer {
  const rooms = new QueueRooms(database);
  const matching = database.jobs
    .inState('queued')
    .filter(matcherOf(request))
    .filter(job => !rooms.isPaused(job.queue));
  const due = matching.filter(job => job.nextRunAt <= now).sort(byClaimOrder);
  const left: StoredJob[] = [];
  const attempts: Attempt[] = [];

  const limit = isActive(database, request.executorId) ? request.limit : 0;
  for (const job of due) {
    if (attempts.length < limit && rooms.hasRoom(job.queue)) {
      attempts.push(startJob(database, job, request.executorId, now));
      rooms.take(job.queue);
    } else {
      left.push(job);
    }
  }

  return {
    attempts,
    nextDueAt: attempts.length > 0 ? now : earliest(matching.filter(job => rooms.hasRoom(job.queue))),
    isHeldBack: left.some(job => !rooms.hasRoom(job.queue)),
  };
}

function matcherOf({ definitions, queues }: ClaimRequest): (job: StoredJob) => boolean {
  const known = new Set(definitions.map(definitionKey));
  const served = queues === null ? null : new Set(queues);

  return job => known.has(definitionKey(job)) && (served === null || served.has(job.queue));
}

function definitionKey({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name.length}:${name}${version}`;
}

/** Highest priority, longest due, oldest. */
function byClaimOrder(a: StoredJob, b: StoredJob): number {
  return b.priority - a.priority || a.nextRunAt - b.nextRunAt || a.createdAt - b.createdAt;
}

function earliest(jobs: readonly StoredJob[]): Micros | null {
  return jobs.reduce<Micros | null>(
    (first, { nextRunAt }) => (first === null || nextRunAt < first ? nextRunAt : first),
    null,
  );
}
