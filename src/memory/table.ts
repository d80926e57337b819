import type { Journal } from './journal.ts';

/** Frozen rows by key. A write replaces a row, so whoever holds one holds what was, and can change nothing. */
export class Table<Row extends object> {
  readonly #rows = new Map<string, Row>();
  readonly #journal: Journal;
  readonly #onChange: (before: Row | undefined, after: Row | undefined) => void;

  /** @param onChange called after every write and its undoing, for what is derived from the rows */
  constructor(journal: Journal, onChange: (before: Row | undefined, after: Row | undefined) => void = () => {}) {
    this.#journal = journal;
    this.#onChange = onChange;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  all(): Row[] {
    return [...this.#rows.values()];
  }

  put(key: string, row: Row): void {
    this.#write(key, Object.freeze(row));
  }

  delete(key: string): void {
    this.#write(key, undefined);
  }

  #write(key: string, after: Row | undefined): void {
    const before = this.#rows.get(key);

    this.#set(key, before, after);
    this.#journal.record(() => this.#set(key, after, before));
  }

  #set(key: string, before: Row | undefined, after: Row | undefined): void {
    if (after === undefined) {
      this.#rows.delete(key);
    } else {
      this.#rows.set(key, after);
    }
    this.#onChange(before, after);
  }
}
