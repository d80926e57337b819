import { AsyncResource } from 'node:async_hooks';
import { nextTurn } from '../core/next-turn.ts';
import { isTransient } from './database-errors.ts';
import type { Run } from './session.ts';

type Work<T> = (run: Run) => Promise<T>;

interface Entry {
  /** Ends the limit of its wait; throws when nobody waits for it any more. */
  readonly begun: () => void;
  readonly work: Work<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  /** Sends it with what goes along: what begins and ends the transaction is seen by the host's hooks as of this call. */
  readonly send: () => Promise<void>;
}

/** So many go together: while they do, nobody else has the connection. */
const maxTogether = 10;

/**
 * Transactions of one moment as one, where there is one writer: what ends and what is claimed next share a commit, which on a disk
 * takes longer than either. They run one after the other, in the order of their calls. One that fails takes the others
 * back, and each is then run by itself; where the database is busy, all are refused, and each is repeated by its owner.
 */
export class JointTransactions {
  readonly #transaction: <T>(work: Work<T>) => Promise<T>;
  readonly #waiting: Entry[] = [];
  #sending: Promise<void> | null = null;

  constructor(transaction: <T>(work: Work<T>) => Promise<T>) {
    this.#transaction = transaction;
  }

  run<T>(work: Work<T>, begun: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      // The host's hooks on statements see the request that they are sent for.
      const send = AsyncResource.bind(() => this.#sendTogether());
      this.#waiting.push({ begun, work: AsyncResource.bind(work), resolve, reject, send });
      this.#sending ??= this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      await this.#waiting[0]!.send();
    }
    this.#sending = null;
  }

  async #sendTogether(): Promise<void> {
    const asked = Math.min(this.#waiting.length, maxTogether);
    const group: Entry[] = [];
    let step = 'begin' as 'begin' | 'work' | 'commit';

    try {
      const results = await this.#transaction(async run => {
        step = 'work';
        // What came while the connection was another's goes along.
        group.push(...this.#waiting.splice(0, maxTogether).filter(hasBegun));
        const results: unknown[] = [];
        for (const { work } of group) {
          results.push(await work(run));
        }
        step = 'commit';

        return results;
      });
      group.forEach(({ resolve }, index) => resolve(results[index] as never));
    } catch (error) {
      if (step === 'begin') {
        // One of each would wait as long again. What came since has not waited that long.
        rejectAll(this.#waiting.splice(0, asked), error);
      } else if (step === 'work' && group.length > 1 && !isTransient(error)) {
        await this.#runEach(group);
      } else {
        // Nobody knows whether a commit that failed was one.
        rejectAll(group, error);
      }
    }
  }

  async #runEach(group: readonly Entry[]): Promise<void> {
    for (const { work, resolve, reject } of group) {
      await this.#transaction(work).then(result => resolve(result as never), reject);
    }
  }
}

function rejectAll(entries: readonly Entry[], error: unknown): void {
  entries.forEach(({ reject }) => reject(error));
}

function hasBegun({ begun, reject }: Entry): boolean {
  try {
    begun();
    return true;
  } catch (error) {
    reject(error);
    return false;
  }
}
