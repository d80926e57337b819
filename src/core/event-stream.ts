import { InvalidOptionError } from './errors.ts';
import { logEvent } from './event-log.ts';
import type { JobsEvent, JobsEvents, JobsListener } from './events.ts';
import { guardedLogger } from './guarded-logger.ts';
import type { Logger } from './logger.ts';
import type { JobState } from './states.ts';

interface Subscription {
  readonly listener: JobsListener;
  hasFailed: boolean;
}

/**
 * Where events are made known: to the logger those that an operator should read of, to listeners all. Whoever has many to tell
 * asks first whether anybody listens.
 */
export class EventStream implements JobsEvents {
  readonly #logger: Logger;
  readonly #subscriptions = new Set<Subscription>();

  constructor(logger: Logger) {
    this.#logger = guardedLogger(logger);
  }

  get isHeard(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Whether anybody wants to be told that a job is in this state now: listeners of any, the logger of those that need somebody. */
  hears(state: JobState): boolean {
    return this.isHeard || state === 'failed' || state === 'interrupted';
  }

  /** The same without the right to tell. */
  get readable(): JobsEvents {
    return Object.freeze({ subscribe: (listener: JobsListener) => this.subscribe(listener) });
  }

  subscribe(listener: JobsListener): () => void {
    if (typeof listener !== 'function') {
      throw new InvalidOptionError('listener', 'be a function', listener);
    }

    const subscription = { listener, hasFailed: false };
    this.#subscriptions.add(subscription);

    return () => void this.#subscriptions.delete(subscription);
  }

  /** Never throws. */
  emit(event: JobsEvent): void {
    logEvent(this.#logger, event);
    if (this.isHeard) {
      Object.freeze(event);
      [...this.#subscriptions].forEach(subscription => this.#tell(subscription, event));
    }
  }

  #tell(subscription: Subscription, event: JobsEvent): void {
    try {
      const answer: unknown = subscription.listener(event);
      if (isThenable(answer)) {
        answer.then(undefined, (error: unknown) => this.#failed(subscription, error));
      }
    } catch (error) {
      this.#failed(subscription, error);
    }
  }

  #failed(subscription: Subscription, error: unknown): void {
    if (!subscription.hasFailed) {
      subscription.hasFailed = true;
      this.#logger.error(
        { event: 'event_listener_failed', error },
        'a listener of `jobs.events` failed; it is called all the same, and this is not said again',
      );
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
