import type { RunningAttempt } from './attempt.ts';
import type { RecoverAnswer, Recovered } from './store.ts';

/** What was recovered of what was to be. */
export function recoveredOf(attempts: readonly RunningAttempt[], answers: readonly RecoverAnswer[]): Recovered[] {
  return attempts.flatMap((attempt, index) => {
    const state = answers[index]!;
    return state === 'lost' || state === 'attempt_missing' ? [] : [{ attempt, state }];
  });
}
