import type { EventStream } from './event-stream.ts';
import type { JobKey } from './job-key.ts';
import type { JobSnapshot, StageResult } from './snapshot.ts';
import type { CancelAnswer, JobStore } from './store.ts';

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
    events.emit({ event: 'cancel_requested', scope, id, answer, reason: options.reason ?? null });
  }

  return answer;
}
