import type { LogFields, Logger } from '../../../src/core/logger.ts';

export interface LogEntry extends LogFields {
  readonly level: 'info' | 'warn' | 'error';
}

/** A host's logger that keeps what it is told. */
export class Log implements Logger {
  readonly entries: LogEntry[] = [];
  #listeners: Array<() => void> = [];

  info(fields: LogFields): void {
    this.#keep({ level: 'info', ...fields });
  }

  warn(fields: LogFields): void {
    this.#keep({ level: 'warn', ...fields });
  }

  error(fields: LogFields): void {
    this.#keep({ level: 'error', ...fields });
  }

  of(event: string): LogEntry[] {
    return this.entries.filter(entry => entry.event === event);
  }

  /** Warnings and errors, but for how jobs ended. */
  get troubles(): string[] {
    return this.entries
      .filter(({ level, event }) => level !== 'info' && event !== 'attempt_settled' && event !== 'attempt_recovered')
      .map(({ event }) => event);
  }

  async until(event: string): Promise<LogEntry> {
    while (this.of(event).length === 0) {
      await new Promise<void>(resolve => this.#listeners.push(resolve));
    }

    return this.of(event)[0]!;
  }

  #keep(entry: LogEntry): void {
    this.entries.push(entry);
    this.#listeners.splice(0).forEach(resolve => resolve());
  }
}
