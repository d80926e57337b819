const transientCodes = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  'SQLITE_BUSY',
  'SQLITE_BUSY_SNAPSHOT',
  'SQLITE_LOCKED',
]);
const missingTableCode = '42P01';
const missingColumnCode = '42703';

/** Whether the database itself asks for the same transaction again. */
export function isTransient(error: unknown): boolean {
  return transientCodes.has(codeOf(error));
}

/** Whether a table of ours, or a column of one, is not there. */
export function isSchemaMissing(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code === missingTableCode || code === missingColumnCode || (code.startsWith('SQLITE') && isMissingInSqlite(error))
  );
}

/** Whether the database refuses what it was given, so that nothing was written. */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|54)|^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH)/.test(codeOf(error));
}

function isMissingInSqlite(error: unknown): boolean {
  return /no such (table|column)|has no column named/.test(String((error as Error).message));
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
