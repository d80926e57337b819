import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { ResolvedRetention } from '../core/retention.ts';
import { finishedStates, type FinishedState } from '../core/states.ts';
import type { JobStore } from '../core/store.ts';
import { microsOfMs, type Micros } from '../core/time.ts';

const batch = 1000;
/** So many batches in one turn, then the other parts of the maintenance have theirs. */
const maxBatches = 20;
const restMs = 600_000;
/** Stopped and lapsed executors are for people, who ask after the last days. */
const executorsKeptMs = 7 * 86_400_000;

export interface PrunerParts {
  readonly store: Pick<JobStore, 'prune'>;
  readonly retention: ResolvedRetention;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Deletes what has been kept long enough. Every executor does, every ten minutes, or with each turn while there is more. */
export class Pruner {
  readonly #parts: PrunerParts;
  #restsUntil: Micros = 0;

  constructor(parts: PrunerParts) {
    this.#parts = parts;
  }

  async run(stopping: AbortSignal): Promise<void> {
    const now = this.#parts.clock.now();
    // A clock that was set back must not put it off for longer.
    if (now < this.#restsUntil && this.#restsUntil - now <= microsOfMs(restMs)) {
      return;
    }

    const { jobs, executors, isDone } = await this.#prune(stopping, now);
    if (isDone) {
      this.#restsUntil = now + microsOfMs(restMs);
    }
    if (jobs + executors > 0) {
      this.#parts.logger.info({ event: 'pruned', jobs, executors }, 'what has been kept long enough was deleted');
    }
  }

  async #prune(stopping: AbortSignal, now: Micros) {
    const { store, retention } = this.#parts;
    const policy = {
      finishedBefore: instantsBefore(retention, now),
      executorsBefore: now - microsOfMs(executorsKeptMs),
      limit: batch,
    };
    const total = { jobs: 0, executors: 0, isDone: false };

    for (let batches = 0; batches < maxBatches && !total.isDone && !stopping.aborted; batches++) {
      const { jobs, executors } = await store.prune(policy);
      total.jobs += jobs;
      total.executors += executors;
      total.isDone = jobs < batch && executors < batch;
    }

    return total;
  }
}

function instantsBefore(retention: ResolvedRetention, now: Micros): Record<FinishedState, Micros | null> {
  const instants = finishedStates.map(state => {
    const keptMs = retention[state];
    return [state, keptMs === null ? null : now - microsOfMs(keptMs)] as const;
  });

  return Object.fromEntries(instants) as Record<FinishedState, Micros | null>;
}
