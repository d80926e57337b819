import { InvalidOptionError } from './errors.ts';
import { checkKnown } from './known-options.ts';
import { checkedInteger, checkedText } from './option-checks.ts';
import type { QueueSettings, QueueStore } from './queues.ts';

/** Who did it; kept with the change. Up to 255 characters. */
export interface ActorOption {
  readonly actor?: string;
}

/** Steers queues for all executors together; in effect for claims that begin afterwards. Crosses scopes. */
export interface QueueControl {
  /** No more jobs of it start; what runs goes on. */
  pause(name: string, options?: ActorOption): Promise<void>;
  resume(name: string, options?: ActorOption): Promise<void>;
  /** At most so many of its jobs run at once, over all executors; null lifts the cap. */
  limit(name: string, maxRunning: number | null, options?: ActorOption): Promise<void>;
  /** The settings that were ever made. */
  list(): Promise<QueueSettings[]>;
}

/** @param enter called before every call: refuses where it may not be made */
export function queueControlOf(store: QueueStore, enter: (operation: string) => void): QueueControl {
  return Object.freeze({
    pause: async (name: string, options?: ActorOption) => {
      enter('queues.pause()');
      await store.setQueuePaused(checkedText('name', name), true, actorOf(options));
    },
    resume: async (name: string, options?: ActorOption) => {
      enter('queues.resume()');
      await store.setQueuePaused(checkedText('name', name), false, actorOf(options));
    },
    limit: async (name: string, maxRunning: number | null, options?: ActorOption) => {
      enter('queues.limit()');
      await store.setQueueLimit(checkedText('name', name), checkedLimit(maxRunning), actorOf(options));
    },
    list: async () => {
      enter('queues.list()');
      return store.queueSettings();
    },
  });
}

function actorOf(options: ActorOption = {}): string | null {
  return checkedActor(checkKnown(options, ['actor']).actor);
}

export function checkedActor(actor: string | undefined): string | null {
  return actor === undefined ? null : checkedText('actor', actor);
}

function checkedLimit(maxRunning: number | null): number | null {
  if (maxRunning === 0) {
    throw new InvalidOptionError(
      'maxRunning',
      'be positive, or null for no limit; to let none run, pause the queue',
      0,
    );
  }

  return maxRunning === null ? null : checkedInteger('maxRunning', maxRunning, 1, 2_147_483_647);
}
