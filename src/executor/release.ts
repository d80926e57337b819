import type { AttemptRef } from '../core/attempt.ts';
import type { EventStream } from '../core/event-stream.ts';
import type { EventAttempt } from '../core/events.ts';
import type { JobStore } from '../core/store.ts';
import { eventAttempt } from './attempt-fields.ts';

/** Gives back attempts whose handlers never began. */
export async function release(
  store: Pick<JobStore, 'release'>,
  attempts: ReadonlyArray<AttemptRef & EventAttempt>,
  events: EventStream,
): Promise<void> {
  if (attempts.length === 0) {
    return;
  }

  const answers = await store.release(attempts);
  if (events.isHeard) {
    attempts
      .filter((_, index) => answers[index] === 'released' || answers[index] === 'cancelled')
      .forEach(attempt => events.emit({ event: 'attempt_released', ...eventAttempt(attempt) }));
  }
}
