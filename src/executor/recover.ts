import type { AttemptRef } from '../core/attempt.ts';
import type { FailureReason } from '../core/failure-reason.ts';
import type { Logger } from '../core/logger.ts';
import type { JobStore, RecoverAnswer } from '../core/store.ts';
import { logMissing } from './attempt-log.ts';

/** Ends attempts that nobody runs any more; each job goes by its `onInterrupt`. */
export async function recover(
  store: Pick<JobStore, 'recover'>,
  attempts: readonly AttemptRef[],
  reason: FailureReason,
  logger: Logger,
): Promise<RecoverAnswer[]> {
  if (attempts.length === 0) {
    return [];
  }

  const answers = await store.recover(attempts, { requeue: 'declared', reason });
  for (const [index, answer] of answers.entries()) {
    if (answer === 'attempt_missing') {
      logMissing(logger, attempts[index]!);
    }
  }

  return answers;
}

export function isRecovered(answer: RecoverAnswer | undefined): boolean {
  return answer === 'queued' || answer === 'interrupted' || answer === 'cancelled';
}
