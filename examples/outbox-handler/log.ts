import type { Logger } from '../../src/index.ts';

/** What happens goes to standard error; the report alone goes to standard output. */
export function log(line: string): void {
  console.error(line);
}

/** The library's own words. */
export const logger: Logger = {
  info: ({ event, recovered }) => log(recovered ? `[${event}; recovered: ${recovered as number}]` : `[${event}]`),
  warn: (fields, message) => console.error(`[warning] ${message}`, fields),
  error: (fields, message) => console.error(`[error] ${message}`, fields),
};
