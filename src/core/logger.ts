/** Where the library logs: pino-shaped, so a pino logger fits. Every entry has a stable `event` among its fields. */
export interface Logger {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export interface LogFields {
  /** Stable, for example `job_lost`. */
  readonly event: string;
  readonly error?: unknown;
  readonly [field: string]: unknown;
}

/* eslint-disable no-console -- the one place that writes there */
/** Warnings and errors to the console, nothing else. What a host gets that hands in no logger. */
export const consoleLogger: Logger = {
  info: () => {},
  warn: (fields, message) => console.warn(`[mikro-orm-jobs] ${message}`, fields),
  error: (fields, message) => console.error(`[mikro-orm-jobs] ${message}`, fields),
};
