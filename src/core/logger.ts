import { InvalidOptionError } from './errors.ts';

/** Where the library logs: pino-shaped, so a pino logger fits. Every entry has a stable `event` among its fields. */
export interface Logger {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export interface LogFields {
  /** Stable, for example `attempt_lost`. */
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
/* eslint-enable no-console */

/** @throws InvalidOptionError for something that couldn't be logged to */
export function checkedLogger(logger: Logger): Logger {
  const isLogger = (['info', 'warn', 'error'] as const).every(level => typeof logger?.[level] === 'function');
  if (!isLogger) {
    throw new InvalidOptionError('logger', 'have the methods `info`, `warn` and `error`, as a pino logger has', logger);
  }

  return logger;
}
