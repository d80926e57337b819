import type { Logger } from '../core/logger.ts';
import type { Staged } from './commit-watch.ts';
import { Continuations } from './continuations.ts';
import { dueHint } from './hint-channel.ts';
import type { RowKey } from './sql/dialect.ts';
import type { StoreParts } from './store-parts.ts';

export interface CommittedJobsParts extends Omit<StoreParts, 'creationClock' | 'keepUntilCommit'> {
  /** Whether the ORM is open. */
  readonly isOpen: () => boolean;
  readonly logger: Logger;
}

/**
 * Looks after what transactions of the host's left behind when they committed: tells executors what is due, and resolves what
 * waits, whether this process runs an executor or not. In the background, as the host's call has ended; what fails, the next
 * maintenance finds.
 */
export class CommittedJobs {
  readonly #parts: CommittedJobsParts;
  readonly #continuations: Continuations;
  #awaiting: RowKey[] = [];
  #ended: RowKey[] = [];
  #isLooking = false;

  constructor(parts: CommittedJobsParts) {
    this.#parts = parts;
    this.#continuations = new Continuations(parts);
  }

  committed({ awaiting, ended, lanes }: Staged): void {
    if (lanes?.length !== 0) {
      this.#parts.hints.send(dueHint(lanes));
    }

    this.#awaiting.push(...awaiting);
    this.#ended.push(...ended);
    if (!this.#isLooking) {
      void this.#look();
    }
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#awaiting.length + this.#ended.length > 0) {
      const [awaiting, ended] = [this.#awaiting, this.#ended];
      [this.#awaiting, this.#ended] = [[], []];

      await this.#whileOpen(() => this.#continuations.afterCommit(awaiting));
      await this.#whileOpen(() => this.#continuations.resolveChildren(ended));
    }
    this.#isLooking = false;
  }

  async #whileOpen(resolve: () => Promise<unknown>): Promise<void> {
    const { isOpen, logger } = this.#parts;

    try {
      if (isOpen()) {
        await resolve();
      }
    } catch (error) {
      if (isOpen()) {
        logger.warn(
          { event: 'resolve_committed_failed', error },
          'jobs that wait for others were committed and could not be looked at; the next maintenance does it',
        );
      }
    }
  }
}
