/**
 * What became of a delivery, and what to tell the broker.
 *
 * - `processed`: everything was committed. `already_processed`: it had been before; work was not called.
 * - `busy`: another delivery holds the message, or it isn't due yet; no failure. `lost`: the lease was lost, everything was
 *   rolled back. `aborted`: the caller's signal was, everything was rolled back; the next delivery may begin at once.
 * - `snoozed`: work threw a SnoozeError; no failure. `failed`: everything was rolled back and the failure recorded.
 * - `dead_lettered`: a PermanentError, or one failure too many, now (with `error`) or before.
 */
export type Consumed =
  | { readonly outcome: 'processed' | 'already_processed'; readonly reply: 'ack' }
  | { readonly outcome: 'lost' | 'aborted'; readonly reply: 'requeue' }
  | { readonly outcome: 'busy' | 'snoozed'; readonly reply: 'requeue'; readonly retryAt: Date }
  | { readonly outcome: 'failed'; readonly reply: 'requeue'; readonly retryAt: Date; readonly error: unknown }
  | { readonly outcome: 'dead_lettered'; readonly reply: 'reject'; readonly error?: unknown };
