import type { AttemptRef } from '../core/attempt.ts';
import type { EventAttempt } from '../core/events.ts';

/** What every log entry about an attempt says of it. Never the token: whoever reads logs must not be able to settle. */
export function attemptFields({ scope, id, attempt }: AttemptRef): { scope: string; id: string; attempt: number } {
  return { scope, id, attempt };
}

/** What every event about an attempt says of it; likewise without the token. */
export function eventAttempt({ scope, id, name, version, queue, attempt }: EventAttempt): EventAttempt {
  return { scope, id, name, version, queue, attempt };
}
