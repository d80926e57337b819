import type { EventName, JobsEvent, JobsEvents } from '../../../src/core/events.ts';

/** What was told on a stream since it began to listen. */
export class Heard {
  readonly all: JobsEvent[] = [];
  readonly #end: () => void;
  #listeners: Array<() => void> = [];

  constructor(events: JobsEvents) {
    this.#end = events.subscribe(event => {
      this.all.push(event);
      this.#listeners.splice(0).forEach(resolve => resolve());
    });
  }

  of<Name extends EventName>(name: Name): JobsEvent<Name>[] {
    return this.all.filter(({ event }) => event === name) as unknown as JobsEvent<Name>[];
  }

  /** Resolves when so many of them were told. */
  async until<Name extends EventName>(name: Name, count = 1): Promise<JobsEvent<Name>[]> {
    while (this.of(name).length < count) {
      await new Promise<void>(resolve => this.#listeners.push(resolve));
    }

    return this.of(name);
  }

  end(): void {
    this.#end();
  }
}
