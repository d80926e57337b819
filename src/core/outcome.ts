/** How an attempt ended, as its executor saw it. */
export type Outcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  /** The stored payload was not what the definition takes; the handler never began. */
  | { readonly kind: 'payload_invalid'; readonly error: unknown }
  /** Its time was up before it ended. */
  | { readonly kind: 'timed_out'; readonly error: unknown }
  /** A cancel was requested, its signal fired, and it threw. */
  | { readonly kind: 'cancelled'; readonly error: unknown };
