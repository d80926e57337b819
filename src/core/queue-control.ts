import { InvalidOptionError } from './errors.ts';
import type { QueueSettings, QueueStore } from './queues.ts';
import { isStorable } from './text.ts';

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
    pause: async (name: string, { actor }: ActorOption = {}) => {
      enter('queues.pause()');
      await store.setQueuePaused(checkedText('name', name), true, checkedActor(actor));
    },
    resume: async (name: string, { actor }: ActorOption = {}) => {
      enter('queues.resume()');
      await store.setQueuePaused(checkedText('name', name), false, checkedActor(actor));
    },
    limit: async (name: string, maxRunning: number | null, { actor }: ActorOption = {}) => {
      enter('queues.limit()');
      await store.setQueueLimit(checkedText('name', name), checkedLimit(maxRunning), checkedActor(actor));
    },
    list: async () => {
      enter('queues.list()');
      return store.queueSettings();
    },
  });
}

export function checkedActor(actor: string | undefined): string | null {
  return actor === undefined ? null : checkedText('actor', actor);
}

function checkedText(option: string, value: string): string {
  if (typeof value !== 'string' || value.length === 0 || value.length > 255 || !isStorable(value)) {
    throw new InvalidOptionError(option, 'be well-formed text of 1 to 255 characters without NUL', value);
  }

  return value;
}

function checkedLimit(maxRunning: number | null): number | null {
  if (maxRunning !== null && (!Number.isInteger(maxRunning) || maxRunning < 1 || maxRunning > 2_147_483_647)) {
    throw new InvalidOptionError(
      'maxRunning',
      'be a positive integer, or null for no limit; to let none run, pause the queue',
      maxRunning,
    );
  }

  return maxRunning;
}
