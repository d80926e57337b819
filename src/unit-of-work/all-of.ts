/** Aborted with the first of these signals. */
export function allOf(...signals: ReadonlyArray<AbortSignal | undefined>): AbortSignal {
  return AbortSignal.any(signals.filter(signal => signal !== undefined));
}
