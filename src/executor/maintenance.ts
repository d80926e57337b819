import type { EventLoop } from '../core/events.ts';
import type { EventStream } from '../core/event-stream.ts';
import { Health } from './health.ts';
import { WakeUp } from './wake-up.ts';

/** Something that any executor may do for all of them, from time to time. */
export interface MaintenancePart {
  /** By which its failures are told. */
  readonly name: EventLoop;
  /** In which of the turns: 1 in each, 2 in every other. */
  readonly every: number;
  readonly run: () => Promise<unknown>;
}

interface GuardedPart extends MaintenancePart {
  readonly health: Health;
}

/** Runs its parts in turn, again and again. A part that fails stops neither the others nor the next turn, which is its turn too. */
export class Maintenance {
  readonly #parts: readonly GuardedPart[];
  readonly #intervalMs: number;
  readonly #woken = new WakeUp();

  constructor(parts: readonly MaintenancePart[], intervalMs: number, events: Pick<EventStream, 'emit'>) {
    this.#parts = parts.map(part => ({ ...part, health: new Health(part.name, events) }));
    this.#intervalMs = intervalMs;
  }

  /** Runs all parts soon, whose turn it is or not. */
  wake(): void {
    this.#woken.notify();
  }

  /** Resolves once stopping is aborted and the part that runs then has ended. Never rejects. */
  async run(stopping: AbortSignal): Promise<void> {
    for (let turn = 0; !stopping.aborted; turn++) {
      const isWoken = this.#woken.isPending;
      this.#woken.clear();
      const isItsTurn = ({ every, health }: GuardedPart) => isWoken || health.isFailing || turn % every === 0;
      for (const part of this.#parts.filter(isItsTurn)) {
        await runGuarded(part);
        if (stopping.aborted) {
          return;
        }
      }

      await this.#woken.wait(this.#intervalMs, stopping);
    }
  }
}

async function runGuarded({ run, health }: GuardedPart): Promise<void> {
  try {
    await run();
    health.worked();
  } catch (error) {
    health.failed(error);
  }
}
