/** The states of a job. *Scheduled* and *retrying* are no states: they are `queued` with a later `nextRunAt`. */
export const jobStates = ['awaiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled', 'interrupted'] as const;
export type JobState = (typeof jobStates)[number];

/** Jobs that have still to end. A unique key is held by them only. */
export const activeStates = ['awaiting', 'queued', 'running'] as const satisfies readonly JobState[];
/** Jobs that have ended. Only `retry` and `resurrect` bring them back, never a succeeded one. */
export const finishedStates = [
  'succeeded',
  'failed',
  'cancelled',
  'interrupted',
] as const satisfies readonly JobState[];
export type FinishedState = (typeof finishedStates)[number];
/** Finished jobs that `retry` and `resurrect` take. */
export const retryableStates = ['failed', 'cancelled', 'interrupted'] as const satisfies readonly JobState[];

/** The states of one attempt. `failed` also when the job was rescheduled; `snoozed` ends without a failure. */
export const attemptStates = ['running', 'succeeded', 'failed', 'cancelled', 'interrupted', 'snoozed'] as const;
export type AttemptState = (typeof attemptStates)[number];

export function isFinished(state: JobState): boolean {
  return (finishedStates as readonly JobState[]).includes(state);
}
