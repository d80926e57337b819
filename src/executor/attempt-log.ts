import type { AttemptRef } from '../core/attempt.ts';
import type { Logger } from '../core/logger.ts';

/** What every log entry about an attempt says of it. Never the token: whoever reads logs must not be able to settle. */
export function attemptFields({ scope, id, attempt }: AttemptRef): { scope: string; id: string; attempt: number } {
  return { scope, id, attempt };
}

export function logLost(logger: Logger, attempt: AttemptRef): void {
  logger.warn(
    { event: 'attempt_lost', ...attemptFields(attempt) },
    'an attempt no longer owns its job; nothing of it is written',
  );
}

export function logMissing(logger: Logger, attempt: AttemptRef): void {
  logger.error(
    { event: 'attempt_missing', ...attemptFields(attempt) },
    'the row of an attempt is gone, so nothing was written; its job stays running',
  );
}
