import type { AbortWhy } from '../core/abort-reason.ts';
import type { Outcome } from '../core/outcome.ts';

/** How a handler ended, before it is judged. */
export type Ending = Extract<Outcome, { readonly kind: 'returned' | 'threw' | 'payload_invalid' }>;

/** What to do about it. `recover`: the stop interrupted it, so its job goes by its `onInterrupt`. */
export type Verdict =
  { readonly kind: 'settle'; readonly outcome: Outcome } | { readonly kind: 'recover' } | { readonly kind: 'nothing' };

/**
 * Judges by what happened, in this order. Only aborts of ours count, never the name of an error: a handler may throw an
 * AbortError of its own.
 */
export function verdictFor(
  aborted: { wasAborted(why: AbortWhy): boolean; signal: AbortSignal },
  ending: Ending,
): Verdict {
  const threw = ending.kind === 'threw';

  if (aborted.wasAborted('lost')) {
    return { kind: 'nothing' };
  }
  if (ending.kind === 'payload_invalid') {
    return { kind: 'settle', outcome: ending };
  }
  if (aborted.wasAborted('cancelled') && threw) {
    return { kind: 'settle', outcome: { kind: 'cancelled', error: ending.error } };
  }
  if (aborted.wasAborted('timed_out')) {
    return { kind: 'settle', outcome: { kind: 'timed_out', error: threw ? ending.error : aborted.signal.reason } };
  }
  if (aborted.wasAborted('stopped') && threw) {
    return { kind: 'recover' };
  }

  return { kind: 'settle', outcome: ending };
}
