import type { Clock, CreationClock } from '../core/clock.ts';
import type { ResolvedJob } from '../core/told.ts';
import type { Hints } from './hint-channel.ts';
import type { Session } from './session.ts';
import type { RowKey, SqlDialect } from './sql/dialect.ts';

/** What a store is made of; the same for one on its own connections and one inside a transaction. */
export interface StoreParts {
  readonly session: Session;
  readonly dialect: SqlDialect;
  readonly clock: Clock;
  readonly creationClock: CreationClock;
  readonly hints: Hints;
  /** The tokens of attempts that were started below the cap of their queue: their ends make room for whoever waits for it. */
  readonly belowCaps: Set<string>;
  /** Hears of jobs that waited for parents, when it is committed what became of them. */
  readonly tellResolved?: ((jobs: readonly ResolvedJob[]) => void) | undefined;
  /**
   * In a transaction that is its owner's to commit: keeps the jobs that were ended there and that others may wait for. Looked at
   * before the commit, a child would be missed that is committed meanwhile, and of two parents that end at once each would see
   * the other one running.
   */
  readonly keepUntilCommit?: (ended: readonly RowKey[]) => void;
}
