import { durationMs, type Duration } from './duration.ts';
import { InvalidOptionError } from './errors.ts';
import { checkKnown } from './known-options.ts';
import { finishedStates, type FinishedState } from './states.ts';

/**
 * How long jobs are kept after they have ended, by how they ended; `false`: for ever. So long a request that comes again is
 * recognised, too: once its job is gone it makes a new one.
 */
export interface Retention {
  /** @default '30d' */
  readonly succeeded?: Duration | false;
  /** @default '30d' */
  readonly cancelled?: Duration | false;
  /** A dead letter. @default false */
  readonly failed?: Duration | false;
  /** A dead letter that nobody has looked at: its last attempt may have done half of its work. @default false */
  readonly interrupted?: Duration | false;
}

/** The same with defaults, in milliseconds; null: for ever. */
export type ResolvedRetention = Readonly<Record<FinishedState, number | null>>;

const defaults = { succeeded: '30d', cancelled: '30d', failed: false, interrupted: false } as const;
/** An executor that lost the answer to a settlement asks again; it must not find its job gone. */
const shortestMs = 60_000;

/** @param retention `false`: everything is kept for ever */
export function resolveRetention(retention: Retention | false = {}): ResolvedRetention {
  if (retention !== false && (typeof retention !== 'object' || retention === null)) {
    throw new InvalidOptionError('retention', 'be an object, or `false`', retention);
  }

  const given: Retention = retention === false ? {} : retention;
  checkKnown(given, finishedStates, 'retention.');
  const kept = finishedStates.map(state => {
    // Defaults stand in for what is left out, never for null, which somebody may have meant for ever by.
    const { [state]: duration = retention === false ? false : defaults[state] } = given;
    return [state, duration === false ? null : keptMs(duration, `retention.${state}`)] as const;
  });

  return Object.freeze(Object.fromEntries(kept) as Record<FinishedState, number | null>);
}

function keptMs(duration: Duration, option: string): number {
  const ms = durationMs(duration, option);
  if (ms < shortestMs) {
    throw new InvalidOptionError(option, 'be at least a minute, or `false` to keep them for ever', duration);
  }

  return ms;
}
