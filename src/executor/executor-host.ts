import type { Clock } from '../core/clock.ts';
import type { EventStream } from '../core/event-stream.ts';
import type { ExecutorEnvironment } from '../core/executor-environment.ts';
import type { IdempotencyStore } from '../core/idempotency.ts';
import type { Logger } from '../core/logger.ts';
import type { RecurringStore } from '../core/recurring.ts';
import type { JobStore } from '../core/store.ts';

/** What the composition root lends to an executor. */
export interface ExecutorHost<Em> {
  readonly store: JobStore;
  readonly recurring: RecurringStore;
  readonly idempotency: IdempotencyStore;
  readonly environment: ExecutorEnvironment<Em>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where what happens is told. @default a stream of its own, which nobody but the logger hears */
  readonly events?: EventStream;
  /** From 0 (inclusive) to 1, such as `Math.random`. */
  readonly random: () => number;
}

/** The same as an executor has it. */
export type RunningHost<Em> = Required<ExecutorHost<Em>>;
