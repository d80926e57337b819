import type { AttemptRef } from '../core/attempt.ts';
import type { ClaimKeyAnswer } from '../core/idempotency.ts';
import { microsOfMs, type Micros } from '../core/time.ts';
import type { Handle } from './harness.ts';
import type { ManualClock } from './manual-clock.ts';

// What facts about keys of idempotent work ask for, and are answered. Claims and results hold for a minute.

export const claimed: ClaimKeyAnswer = { answer: 'claimed' };
export const inProgress: ClaimKeyAnswer = { answer: 'in_progress' };
export const lost: ClaimKeyAnswer = { answer: 'lost' };
export const completed = (value: string | null): ClaimKeyAnswer => ({ answer: 'completed', value });

const minute = microsOfMs(60_000);

interface On extends Pick<Handle, 'idempotency'> {
  readonly clock: ManualClock;
}

export function claim(
  { idempotency, clock }: On,
  attempt: AttemptRef,
  key = 'charge',
  expiresAt: Micros = clock.now() + minute,
): Promise<ClaimKeyAnswer> {
  return idempotency.claimKey(attempt, key, expiresAt);
}

/** The key `charge`. */
export function complete(
  { idempotency, clock }: On,
  attempt: AttemptRef,
  value: string | null = '1',
  expiresAt: Micros = clock.now() + minute,
): Promise<'completed' | 'lost'> {
  return idempotency.completeKey(attempt, 'charge', value, expiresAt);
}

/** One after the other. */
export async function inTurn<T, R>(items: readonly T[], call: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (const [index, item] of items.entries()) {
    answers.push(await call(item, index));
  }

  return answers;
}
