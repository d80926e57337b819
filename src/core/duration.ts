import { InvalidOptionError } from './errors.ts';

/** Milliseconds, or a number with a unit: `'250ms'`, `'30s'`, `'5m'`, `'2h'`, `'1d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const unitInMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const pattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
/** A hundred years: longer is a mistake, and sums with it stay safe integers. */
const longestMs = 36_525 * unitInMs.d;

/**
 * A duration in milliseconds.
 *
 * @throws InvalidOptionError when it isn't a duration between 0 and a hundred years
 */
export function durationMs(duration: Duration, option: string): number {
  const ms = typeof duration === 'number' ? duration : parse(duration);

  if (!Number.isFinite(ms) || ms < 0 || ms > longestMs) {
    throw new InvalidOptionError(
      option,
      `be milliseconds or a number with a unit such as '30s', up to 100 years`,
      duration,
    );
  }

  return ms;
}

function parse(text: unknown): number {
  const [, amount, unit] = (typeof text === 'string' && pattern.exec(text)) || [];
  return amount === undefined ? NaN : Number(amount) * unitInMs[unit as keyof typeof unitInMs];
}
