import type { Clock, CreationClock } from '../core/clock.ts';
import type { Hints } from './hint-channel.ts';
import type { Session } from './session.ts';
import type { SqlDialect } from './sql/dialect.ts';

/** What a store is made of; the same for one on its own connections and one inside a transaction. */
export interface StoreParts {
  readonly session: Session;
  readonly dialect: SqlDialect;
  readonly clock: Clock;
  readonly creationClock: CreationClock;
  readonly hints: Hints;
}
