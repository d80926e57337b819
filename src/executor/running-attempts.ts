import type { JobKey } from '../core/job-key.ts';
import type { RunningAttempt } from './running-attempt.ts';

/** The attempts whose handlers run, by token: a job that was recovered and started again is another attempt. */
export class RunningAttempts implements Iterable<RunningAttempt> {
  readonly #byToken = new Map<string, RunningAttempt>();
  readonly #onRemoved: () => void;
  #emptyListeners: Array<() => void> = [];

  constructor(onRemoved: () => void) {
    this.#onRemoved = onRemoved;
  }

  get size(): number {
    return this.#byToken.size;
  }

  has(token: string): boolean {
    return this.#byToken.has(token);
  }

  get(token: string): RunningAttempt | undefined {
    return this.#byToken.get(token);
  }

  of({ scope, id }: JobKey): RunningAttempt[] {
    return [...this].filter(({ attempt }) => attempt.scope === scope && attempt.id === id);
  }

  add(run: RunningAttempt): void {
    this.#byToken.set(run.token, run);
  }

  remove(run: RunningAttempt): void {
    if (this.#byToken.delete(run.token)) {
      this.#onRemoved();
    }
    if (this.size === 0) {
      this.#emptyListeners.splice(0).forEach(resolve => resolve());
    }
  }

  async whenEmpty(): Promise<void> {
    if (this.size > 0) {
      await new Promise<void>(resolve => this.#emptyListeners.push(resolve));
    }
  }

  [Symbol.iterator](): Iterator<RunningAttempt> {
    return this.#byToken.values();
  }
}
