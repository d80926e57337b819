import type { Logger } from '../core/logger.ts';
import type { Staged } from './commit-watch.ts';
import type { Continuations } from './continuations.ts';
import type { RowKey } from './sql/dialect.ts';

export interface CommittedJobsParts {
  readonly continuations: Pick<Continuations, 'afterCommit' | 'resolveChildren'>;
  /** Whether the ORM is open. */
  readonly isOpen: () => boolean;
  readonly logger: Logger;
}

/**
 * Resolves what transactions of the host's left behind when they committed: the process that inserted a job looks at its parents,
 * whether it runs an executor or not. In the background, as the host's call has ended; what fails, the next maintenance finds.
 */
export class CommittedJobs {
  readonly #parts: CommittedJobsParts;
  #awaiting: RowKey[] = [];
  #ended: RowKey[] = [];
  #looking: Promise<void> | null = null;

  constructor(parts: CommittedJobsParts) {
    this.#parts = parts;
  }

  committed({ awaiting, ended }: Pick<Staged, 'awaiting' | 'ended'>): void {
    this.#awaiting.push(...awaiting);
    this.#ended.push(...ended);
    this.#looking ??= this.#look();
  }

  async #look(): Promise<void> {
    while (this.#awaiting.length + this.#ended.length > 0) {
      const [awaiting, ended] = [this.#awaiting, this.#ended];
      [this.#awaiting, this.#ended] = [[], []];

      await this.#whileOpen(() => this.#parts.continuations.afterCommit(awaiting));
      await this.#whileOpen(() => this.#parts.continuations.resolveChildren(ended));
    }
    this.#looking = null;
  }

  async #whileOpen(resolve: () => Promise<unknown>): Promise<void> {
    try {
      if (this.#parts.isOpen()) {
        await resolve();
      }
    } catch (error) {
      if (this.#parts.isOpen()) {
        this.#parts.logger.warn(
          { event: 'resolve_committed_failed', error },
          'jobs that wait for others were committed and could not be looked at; the next maintenance does it',
        );
      }
    }
  }
}
