import type { Micros } from '../core/time.ts';

/** A message held for one consumer by this delivery. Every write to its row carries the token. */
export interface Receipt {
  readonly messageId: string;
  readonly consumer: string;
  readonly token: string;
  readonly leaseUntil: Micros;
  /** Failures recorded before this delivery. */
  readonly failureCount: number;
}

/** `busy`: held by another delivery, or not due; `until` says how long at most, as far as is known. */
export type Acquired =
  | { readonly answer: 'acquired'; readonly receipt: Receipt }
  | { readonly answer: 'busy'; readonly until: Micros }
  | { readonly answer: 'already_processed' | 'dead_lettered' };
