import type { Logger } from '../core/logger.ts';
import type { Staged } from './commit-watch.ts';
import { Continuations } from './continuations.ts';
import { dueHint } from './hint-channel.ts';
import type { StoreParts } from './store-parts.ts';

export interface CommittedJobsParts extends Omit<StoreParts, 'creationClock' | 'belowCaps' | 'keepUntilCommit'> {
  readonly logger: Logger;
}

/**
 * Looks after what a transaction of the host's left behind when it committed: tells executors what is due, and resolves what
 * waits, whether this process runs an executor or not.
 */
export class CommittedJobs {
  readonly #parts: CommittedJobsParts;
  readonly #continuations: Continuations;

  constructor(parts: CommittedJobsParts) {
    this.#parts = parts;
    this.#continuations = new Continuations(parts);
  }

  /**
   * Never rejects: what was committed can't fail any more. The host's call waits for it, or its next one, which may close the ORM,
   * would meet a statement under way.
   */
  async committed({ awaiting, ended, lanes }: Staged): Promise<void> {
    if (lanes?.length !== 0) {
      this.#parts.hints.send(dueHint(lanes));
    }

    try {
      await this.#continuations.afterCommit(awaiting);
      await this.#continuations.resolveChildren(ended);
    } catch (error) {
      this.#parts.logger.warn(
        { event: 'resolve_committed_failed', error },
        'jobs that wait for others were committed and could not be looked at; the next maintenance does it',
      );
    }
  }
}
