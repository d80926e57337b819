import type { Progress } from '../core/attempt.ts';
import { InvalidOptionError } from '../core/errors.ts';
import { cutToBytes, storable } from '../core/text.ts';

const maxMessageBytes = 1024;

/** The progress of one attempt as its handler reported it: only ever forward. The watcher sends what has changed. */
export class AttemptProgress {
  #current: Progress | null = null;
  #sent: Progress | null = null;

  /** Null: none was reported. */
  get current(): Progress | null {
    return this.#current;
  }

  /** What the store hasn't been told yet. */
  get unsent(): Progress | null {
    return this.#current === this.#sent ? null : this.#current;
  }

  /** A value below the last one is ignored with its message. Without a message the last one stays. */
  report(percent: number, message?: string): void {
    const value = checkedPercent(percent);
    const last = this.#current ?? { value: 0, message: null };
    const next = { value, message: message === undefined ? last.message : checkedMessage(message) };

    const isNews = next.value > last.value || (next.value === last.value && next.message !== last.message);
    if (isNews) {
      this.#current = Object.freeze(next);
    }
  }

  markSent(progress: Progress): void {
    this.#sent = progress;
  }
}

function checkedPercent(percent: number): number {
  if (typeof percent !== 'number' || Number.isNaN(percent)) {
    throw new InvalidOptionError('percent', 'be a number from 0 to 100', percent);
  }

  return Math.round(Math.min(Math.max(percent, 0), 100));
}

function checkedMessage(message: string): string {
  if (typeof message !== 'string') {
    throw new InvalidOptionError('message', 'be text', message);
  }

  return cutToBytes(storable(message), maxMessageBytes);
}
