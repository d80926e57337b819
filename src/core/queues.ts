/** How a queue is run, by all executors together. A queue that nobody said anything about has no row, and these defaults. */
export interface QueueSettings {
  readonly name: string;
  /** A paused queue gives no jobs to claims that begin afterwards; what runs goes on. @default false */
  readonly isPaused: boolean;
  /** At most so many of its jobs run at once, over all executors. @default null: no limit */
  readonly maxRunning: number | null;
  /** Who changed it last. */
  readonly changedBy: string | null;
  readonly updatedAt: Date;
}

/** The part of a store that steers queues. */
export interface QueueStore {
  /** Pauses or resumes a queue. */
  setQueuePaused(name: string, isPaused: boolean, actor: string | null): Promise<void>;
  /** Caps what runs of a queue at once; claims count under a lock, so that no number of claimers exceeds it. Null lifts the cap. */
  setQueueLimit(name: string, maxRunning: number | null, actor: string | null): Promise<void>;
  /** The settings that were ever made, by name. */
  queueSettings(): Promise<QueueSettings[]>;
}
