import type { EventStream } from '../core/event-stream.ts';
import type { Logger } from '../core/logger.ts';
import { nextTurn } from '../core/next-turn.ts';
import type { JobStore, SettleAnswer } from '../core/store.ts';
import { attemptFields, eventAttempt } from './attempt-fields.ts';
import { BackOff } from './back-off.ts';
import { settledEvent, type Ended } from './settled-event.ts';
import { WakeUp } from './wake-up.ts';

const maxGroup = 100;
/** Under load the groups follow each other no sooner, unless one is full. */
const groupEveryMs = 5;
const firstDelayMs = 100;
const longestDelayMs = 30_000;

interface Entry extends Ended {
  readonly backOff: BackOff;
  /** Whether it was logged that it could not be written. */
  isTold?: boolean;
  /** Runs while it waits to be tried again. */
  timer?: NodeJS.Timeout;
}

/**
 * Writes outcomes in groups: at once when idle; under load what comes within 5 ms, or while a group is on its way, goes together. What
 * the store refuses is tried again by itself and later, so that it takes no other with it.
 */
export class Settler {
  readonly #store: Pick<JobStore, 'settle'>;
  readonly #events: EventStream;
  readonly #logger: Logger;
  readonly #onSettled: () => void;
  readonly #settled = new WakeUp();
  /** All that is not settled yet, by token. */
  readonly #entries = new Map<string, Entry>();
  /** What goes with the next group. */
  readonly #due: Entry[] = [];
  readonly #full = new WakeUp();
  readonly #closing = new AbortController();
  #sending: Promise<void> | null = null;
  /** Nothing was written since something could not be: what fails then as well is not logged too. */
  #isFailing = false;
  #hasLetGo = false;

  constructor(store: Pick<JobStore, 'settle'>, events: EventStream, logger: Logger, onSettled: () => void) {
    this.#store = store;
    this.#events = events;
    this.#logger = logger;
    this.#onSettled = onSettled;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(token: string): boolean {
    return this.#entries.has(token);
  }

  settle(ended: Ended): void {
    const entry = { ...ended, backOff: new BackOff(firstDelayMs, longestDelayMs) };
    this.#entries.set(ended.settlement.token, entry);
    this.#send(entry);
  }

  /** Tries what is postponed now: the database is back, and a lease may be near its end. */
  sendPostponed(): void {
    for (const entry of this.#entries.values()) {
      if (entry.timer !== undefined) {
        this.#send(entry);
      }
    }
  }

  /**
   * Goes on until all is settled or the budget is over; then what is left gets a last try and is given up: it stays running in
   * the database, where recovery finds it.
   *
   * @returns how many were given up
   */
  async close(budget: AbortSignal): Promise<number> {
    this.#closing.abort();
    this.sendPostponed();
    while (this.#entries.size > 0 && !budget.aborted) {
      this.#settled.clear();
      await this.#settled.wait(null, budget);
    }
    this.sendPostponed();
    await this.#sending;

    return this.#giveUp();
  }

  /** What is tried again later keeps the process alive no more. */
  letGo(): void {
    this.#hasLetGo = true;
    this.#entries.forEach(({ timer }) => timer?.unref());
  }

  #send(entry: Entry): void {
    clearTimeout(entry.timer);
    entry.timer = undefined;
    this.#due.push(entry);
    if (this.#due.length >= maxGroup) {
      this.#full.notify();
    }
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    // What ends in one turn goes together.
    await nextTurn();
    while (this.#due.length > 0) {
      const group = this.#due.splice(0, maxGroup);
      this.#full.clear();
      const isTime = this.#due.length < maxGroup ? this.#full.wait(groupEveryMs, this.#closing.signal) : null;

      await this.#sendGroup(group);
      await nextTurn();
      await isTime;
    }
    this.#sending = null;
  }

  async #sendGroup(group: readonly Entry[]): Promise<void> {
    try {
      const answers = await this.#store.settle(group.map(({ settlement }) => settlement));
      answers.forEach((answer, index) => this.#answered(group[index]!, answer));
    } catch (error) {
      await this.#refused(group, error);
    }
  }

  async #refused(group: readonly Entry[], error: unknown): Promise<void> {
    if (group.length === 1) {
      return this.#postpone(group[0]!, error);
    }

    // The database may refuse one of them for good.
    for (const entry of group) {
      await this.#sendGroup([entry]);
    }
  }

  #answered(entry: Entry, answer: SettleAnswer): void {
    this.#entries.delete(entry.settlement.token);
    this.#isFailing = false;
    this.#tell(entry, answer);

    this.#settled.notify();
    this.#onSettled();
  }

  #tell(entry: Entry, answer: SettleAnswer): void {
    if (answer.answer !== 'settled') {
      const event = answer.answer === 'lost' ? 'attempt_lost' : 'attempt_missing';
      return this.#events.emit({ event, ...eventAttempt(entry.attempt) });
    }
    if (entry.isTold) {
      const fields = { event: 'settle_recovered', ...attemptFields(entry.settlement) };
      this.#logger.info(fields, 'an outcome was written after all');
    }
    if (this.#events.hears(answer.state)) {
      this.#events.emit(settledEvent(entry, answer.state));
    }
  }

  #postpone(entry: Entry, error: unknown): void {
    if (!this.#isFailing && !entry.isTold) {
      entry.isTold = true;
      const fields = { event: 'settle_failed', ...attemptFields(entry.settlement), error };
      this.#logger.error(fields, 'an outcome could not be written; it is tried again, as are others that fail now');
    }

    this.#isFailing = true;
    entry.timer = setTimeout(() => this.#send(entry), entry.backOff.next());
    if (this.#hasLetGo) {
      entry.timer.unref();
    }
  }

  #giveUp(): number {
    for (const { settlement, timer } of this.#entries.values()) {
      clearTimeout(timer);
      this.#logger.error(
        { event: 'settle_given_up', ...attemptFields(settlement), outcome: settlement.outcome },
        'an outcome could not be written before the stop; the job stays running until recovery decides',
      );
    }

    return this.#entries.size;
  }
}
