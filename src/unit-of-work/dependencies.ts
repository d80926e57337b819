import type { ConnectionLimit } from '../core/begun-within.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { StageResult } from '../core/snapshot.ts';
import type { Submission } from '../core/submission.ts';
import type { UnitOfWorkOptions } from './options.ts';

/** What a unit of work is made of; `Jobs` puts it together. */
export interface UnitOfWorkDependencies<Em> {
  readonly dialect: 'sqlite' | 'postgresql';
  /** An EntityManager of the host's ORM with nothing in it: no transaction, no context, the host's subscribers and filters. */
  fork(): Em;
  /** @throws AmbientTransactionError when called inside a transaction of that ORM */
  refuseAmbientTransaction(operation: string): void;
  /** Stages in the EntityManager's transaction. */
  stage(em: Em, submissions: readonly Submission[]): Promise<StageResult[]>;
  /** Runs one of the library's own statements, again when the database gave it up in favour of another. */
  retry<T>(write: () => Promise<T>): Promise<T>;
  /** Resolves after so many ms, rejects when the signal is aborted before. */
  delay(ms: number, signal: AbortSignal): Promise<void>;
  /** How long a connection is waited for. @default 30_000 */
  readonly connectionTimeoutMs?: number;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1. */
  random(): number;
  readonly logger: Logger;
  readonly options?: UnitOfWorkOptions;
}

/** How long a call of this name waits for its connection. */
export function connectionLimit(
  { connectionTimeoutMs = 30_000, delay }: Pick<UnitOfWorkDependencies<never>, 'connectionTimeoutMs' | 'delay'>,
  operation: string,
): ConnectionLimit {
  const ringAfter = (ms: number, ring: () => void) => {
    const cancelled = new AbortController();
    delay(ms, cancelled.signal).then(ring, () => {});

    return () => cancelled.abort();
  };

  return { ms: connectionTimeoutMs, operation, ringAfter };
}
