import type { Statement } from './sql/statement.ts';
import type { Tables } from './tables.ts';

/** A row as the driver gives it: the column's name, and whatever the driver makes of its type. */
export type Row = Readonly<Record<string, unknown>>;

/** Sends one statement. */
export type Run = (statement: Statement) => Promise<Row[]>;

/** Where the store's statements go: to connections of its own, or into one transaction that is open already. */
export interface Session {
  readonly tables: Tables;
  /** One statement that writes nothing. */
  readonly read: Run;
  /** One statement that is atomic by itself. */
  readonly write: Run;
  /** Several statements, all or nothing, as short as they are. */
  readonly atomically: <T>(work: (run: Run) => Promise<T>) => Promise<T>;
}
