/** The states of a job. *Scheduled* and *retrying* are no states: they are `queued` with a later `nextRunAt`. */
export const jobStates = ['awaiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled', 'interrupted'] as const;
export type JobState = (typeof jobStates)[number];

/** Jobs that have still to end. A unique key is held by them only. */
export const activeStates = ['awaiting', 'queued', 'running'] as const satisfies readonly JobState[];
/** Jobs that have ended. Only `retry` brings them back, never a succeeded one. */
export const finishedStates = [
  'succeeded',
  'failed',
  'cancelled',
  'interrupted',
] as const satisfies readonly JobState[];
/** Finished jobs that `retry` takes. */
export const retryableStates = ['failed', 'cancelled', 'interrupted'] as const satisfies readonly JobState[];

/** The states of one attempt. `failed` also when the job was rescheduled; `snoozed` ends without a failure. */
export const attemptStates = ['running', 'succeeded', 'failed', 'cancelled', 'interrupted', 'snoozed'] as const;
export type AttemptState = (typeof attemptStates)[number];

/** Every move that a store can make: which states it leaves and which it reaches. The store's conditional updates are these rows. */
export const moves = {
  stage: { from: [], to: ['queued', 'awaiting'] },
  claim: { from: ['queued'], to: ['running'] },
  progress: { from: ['running'], to: ['running'] },
  settle: { from: ['running'], to: ['succeeded', 'failed', 'interrupted', 'cancelled', 'queued'] },
  release: { from: ['running'], to: ['queued', 'cancelled'] },
  recover: { from: ['running'], to: ['queued', 'interrupted', 'cancelled'] },
  cancel: { from: ['awaiting', 'queued', 'running'], to: ['cancelled', 'running'] },
  retry: { from: ['failed', 'cancelled', 'interrupted'], to: ['queued'] },
  runNow: { from: ['queued'], to: ['queued'] },
} as const satisfies Record<string, { from: readonly JobState[]; to: readonly JobState[] }>;

export function isFinished(state: JobState): boolean {
  return (finishedStates as readonly JobState[]).includes(state);
}
