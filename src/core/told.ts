import type { EventStream } from './event-stream.ts';
import type { EventJob } from './events.ts';
import type { JobKey } from './job-key.ts';
import type { JobSnapshot, StageResult } from './snapshot.ts';
import type { CancelAnswer, JobStore, ResurrectAnswer, Resurrection, RetryAnswer } from './store.ts';

/** Tells of jobs that were added, when they are committed. */
export function tellStaged(events: EventStream, jobs: readonly JobSnapshot[]): void {
  if (events.isHeard) {
    for (const { scope, id, name, version, queue, state } of jobs) {
      events.emit({ event: 'job_staged', scope, id, name, version, queue, state });
    }
  }
}

export function createdOf(results: readonly StageResult[]): JobSnapshot[] {
  return results.filter(({ created }) => created).map(({ job }) => job);
}

/** Cancels, and tells of it. */
export async function cancelAndTell(
  store: Pick<JobStore, 'cancel'>,
  events: EventStream,
  { scope, id }: JobKey,
  options: NonNullable<Parameters<JobStore['cancel']>[1]>,
): Promise<CancelAnswer> {
  const answer = await store.cancel({ scope, id }, options);
  if (events.isHeard && (answer === 'cancelled' || answer === 'requested')) {
    events.emit({
      event: 'cancel_requested',
      scope,
      id,
      answer,
      reason: options.reason ?? null,
      actor: options.actor ?? null,
    });
  }

  return answer;
}

/** Queues a finished job again, and tells of it. */
export async function retryAndTell(
  store: Pick<JobStore, 'retry'>,
  events: EventStream,
  { scope, id }: JobKey,
  options: Parameters<JobStore['retry']>[1],
): Promise<RetryAnswer> {
  const state = await store.retry({ scope, id }, options);
  if (events.isHeard && isBack(state)) {
    events.emit({ event: 'job_retried', scope, id, state, actor: options.actor ?? null });
  }

  return state;
}

/** The same with a fresh budget. */
export async function resurrectAndTell(
  store: Pick<JobStore, 'resurrect'>,
  events: EventStream,
  { scope, id }: JobKey,
  how: Resurrection,
): Promise<ResurrectAnswer> {
  const state = await store.resurrect({ scope, id }, how);
  if (events.isHeard && isBack(state)) {
    const repaired = how.repair !== undefined;
    events.emit({ event: 'job_resurrected', scope, id, state, repaired, actor: how.actor ?? null });
  }

  return state;
}

export function isBack(answer: RetryAnswer): answer is 'queued' | 'awaiting' {
  return answer === 'queued' || answer === 'awaiting';
}

/** A job that waited for parents, with what has become of it. */
export interface ResolvedJob extends EventJob {
  readonly state: 'queued' | 'cancelled';
}

/** Tells of jobs that were moved by what their parents came to, when that is committed. */
export function resolvedTeller(events: EventStream): (jobs: readonly ResolvedJob[]) => void {
  return jobs => {
    if (events.isHeard) {
      for (const { scope, id, name, version, queue, state } of jobs) {
        events.emit({ event: 'job_resolved', scope, id, name, version, queue, state });
      }
    }
  };
}
