/** An instant as whole microseconds since the Unix epoch, UTC. Safe as a number until the year 2255. */
export type Micros = number;

/** The first instant that a column of ours can hold. */
export const earliestInstant: Micros = 0;
/** The last one: 2255-01-01T00:00:00Z, below 2^53 microseconds. */
export const latestInstant: Micros = Date.UTC(2255, 0, 1) * 1000;

/** A Date that a column can hold, as an instant; null for everything else. */
export function instantOf(value: unknown): Micros | null {
  const instant = value instanceof Date ? microsOf(value) : NaN;
  return instant >= earliestInstant && instant <= latestInstant ? instant : null;
}

export const microsOf = (instant: Date): Micros => instant.getTime() * 1000;
export const dateOf = (instant: Micros): Date => new Date(Math.floor(instant / 1000));
export const microsOfMs = (ms: number): Micros => Math.round(ms * 1000);
