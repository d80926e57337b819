import type { AttemptRef } from '../core/attempt.ts';
import type { FailureReason } from '../core/failure-reason.ts';
import type { AttemptState } from '../core/states.ts';
import type { Micros } from '../core/time.ts';

/** One execution of a job as it is kept. */
export interface StoredAttempt extends AttemptRef {
  readonly executorId: string;
  readonly state: AttemptState;
  readonly progress: number;
  readonly progressMessage: string | null;
  readonly failureReason: FailureReason | null;
  readonly error: string | null;
  readonly resultRef: string | null;
  readonly startedAt: Micros;
  readonly endedAt: Micros | null;
}
