import type { EventStream } from '../core/event-stream.ts';
import type { EventAttempt } from '../core/events.ts';
import type { FailureReason } from '../core/failure-reason.ts';
import type { AttemptRef } from '../core/attempt.ts';
import type { JobStore, RecoverAnswer, Recovered } from '../core/store.ts';
import { eventAttempt } from './attempt-fields.ts';

/** Ends attempts that nobody runs any more; each job goes by its `onInterrupt`. */
export async function recover(
  store: Pick<JobStore, 'recover'>,
  attempts: ReadonlyArray<AttemptRef & EventAttempt>,
  reason: FailureReason,
  events: EventStream,
): Promise<RecoverAnswer[]> {
  if (attempts.length === 0) {
    return [];
  }

  const answers = await store.recover(attempts, { requeue: 'declared', reason });
  for (const [index, answer] of answers.entries()) {
    if (answer === 'attempt_missing') {
      events.emit({ event: 'attempt_missing', ...eventAttempt(attempts[index]!) });
    } else if (answer !== 'lost') {
      tellRecovered(events, { attempt: attempts[index]!, state: answer }, reason);
    }
  }

  return answers;
}

export function tellRecovered(
  events: EventStream,
  { attempt, state }: { readonly attempt: EventAttempt; readonly state: Recovered['state'] },
  failureReason: FailureReason,
): void {
  if (events.hears(state)) {
    // A cancel that came first is why it ended.
    const reason = state === 'cancelled' ? 'cancel_requested' : failureReason;
    events.emit({ event: 'attempt_recovered', ...eventAttempt(attempt), state, failureReason: reason });
  }
}

export function isRecovered(answer: RecoverAnswer | undefined): boolean {
  return answer === 'queued' || answer === 'interrupted' || answer === 'cancelled';
}
