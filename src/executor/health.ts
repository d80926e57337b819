import type { Logger } from '../core/logger.ts';

/** Logs when something that is done again and again begins to fail, and when it works again; nothing in between. */
export class Health {
  readonly #what: string;
  readonly #logger: Logger;
  #isFailing = false;

  /** @param what the stem of the events: `claim` logs `claim_failed` and `claim_recovered` */
  constructor(what: string, logger: Logger) {
    this.#what = what;
    this.#logger = logger;
  }

  failed(error: unknown): void {
    if (!this.#isFailing) {
      this.#isFailing = true;
      this.#logger.error({ event: `${this.#what}_failed`, error }, `${this.#what} failed; it is tried again`);
    }
  }

  worked(): void {
    if (this.#isFailing) {
      this.#isFailing = false;
      this.#logger.info({ event: `${this.#what}_recovered` }, `${this.#what} works again`);
    }
  }
}
