import type { LogFields, Logger } from './logger.ts';

/** The host's logger, with its own failures swallowed: a log transport that throws must not end a loop. */
export function guardedLogger(logger: Logger): Logger {
  const guarded = (write: (fields: LogFields, message: string) => void) => (fields: LogFields, message: string) => {
    try {
      write(fields, message);
    } catch {
      // There is nowhere left to say it.
    }
  };

  return {
    info: guarded((fields, message) => logger.info(fields, message)),
    warn: guarded((fields, message) => logger.warn(fields, message)),
    error: guarded((fields, message) => logger.error(fields, message)),
  };
}
