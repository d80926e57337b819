import type { AttemptRef } from '../core/attempt.ts';
import type { Clock } from '../core/clock.ts';
import type { ClaimKeyAnswer, IdempotencyStore } from '../core/idempotency.ts';
import { scopeHash, uniqueHash } from '../core/scope.ts';
import type { Micros } from '../core/time.ts';
import type { Row, Session } from './session.ts';
import {
  claimKey,
  completeKey,
  pruneKeys,
  readKey,
  releaseKey,
  type KeyRequest,
} from './sql/shared/idempotency-claims.ts';

/** The keys of `job.once` on MikroORM. */
export class MikroOrmIdempotencyStore implements IdempotencyStore {
  readonly #session: Session;
  readonly #clock: Clock;

  constructor({ session, clock }: { readonly session: Session; readonly clock: Clock }) {
    this.#session = session;
    this.#clock = clock;
  }

  /**
   * Claims, or reads why not. An owner that was read as ended has ended for good, as every start has a token of its own: so
   * the key is then taken from that token and no other.
   */
  async claimKey(attempt: AttemptRef, key: string, expiresAt: Micros): Promise<ClaimKeyAnswer> {
    const { read, tables, write } = this.#session;
    const request = requestOf(attempt, key);
    let endedToken: string | null = null;

    for (;;) {
      const claimed = await write(claimKey(tables, request, endedToken, expiresAt, this.#clock.now()));
      if (claimed.length > 0) {
        return { answer: 'claimed' };
      }

      const [found] = await read(readKey(tables, request));
      if (found === undefined) {
        return { answer: 'lost' };
      }
      const answer = whyNotClaimed(found, this.#clock.now());
      if (answer !== null) {
        return answer;
      }
      endedToken = found.is_held ? null : (found.owner_token as string | null);
    }
  }

  async completeKey(
    attempt: AttemptRef,
    key: string,
    value: string | null,
    expiresAt: Micros,
  ): Promise<'completed' | 'lost'> {
    const { tables, write } = this.#session;
    const completed = await write(completeKey(tables, requestOf(attempt, key), value, expiresAt));

    return completed.length > 0 ? 'completed' : 'lost';
  }

  async releaseKey(attempt: AttemptRef, key: string): Promise<void> {
    await this.#session.write(releaseKey(this.#session.tables, requestOf(attempt, key)));
  }

  async pruneKeys(limit: number): Promise<number> {
    return (await this.#session.write(pruneKeys(this.#session.tables, limit, this.#clock.now()))).length;
  }
}

/** Null: it can be claimed by now. */
function whyNotClaimed(found: Row, now: Micros): ClaimKeyAnswer | null {
  if (found.state === 'completed') {
    return Number(found.result_expires_at) > now ? { answer: 'completed', value: found.value as string | null } : null;
  }

  const isHeld = found.state === 'in_progress' && found.is_held && Number(found.claim_expires_at) > now;
  return isHeld ? { answer: 'in_progress' } : null;
}

function requestOf({ scope, id, token }: AttemptRef, key: string): KeyRequest {
  return { keyHash: uniqueHash(scope, key), key, scopeHash: scopeHash(scope), id, token };
}
