import type { EventLoop } from '../core/events.ts';
import type { EventStream } from '../core/event-stream.ts';

/** Tells when something that is done again and again begins to fail, and when it works again; nothing in between. */
export class Health {
  readonly #loop: EventLoop;
  readonly #events: Pick<EventStream, 'emit'>;
  #isFailing = false;

  constructor(loop: EventLoop, events: Pick<EventStream, 'emit'>) {
    this.#loop = loop;
    this.#events = events;
  }

  get isFailing(): boolean {
    return this.#isFailing;
  }

  failed(error: unknown): void {
    if (!this.#isFailing) {
      this.#isFailing = true;
      this.#events.emit({ event: 'loop_failed', loop: this.#loop, error });
    }
  }

  worked(): void {
    if (this.#isFailing) {
      this.#isFailing = false;
      this.#events.emit({ event: 'loop_recovered', loop: this.#loop });
    }
  }
}
