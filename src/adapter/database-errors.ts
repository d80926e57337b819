const serializationFailureCode = '40001';
const deadlockCode = '40P01';
const uniqueViolationCode = '23505';

/** Whether the database itself asks for the same transaction again. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return code === serializationFailureCode || code === deadlockCode || /^SQLITE_(BUSY|LOCKED)(_|$)/.test(code);
}

/** Whether a row with this key is there already. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error);
  return code === uniqueViolationCode || /^SQLITE_CONSTRAINT(_PRIMARYKEY|_UNIQUE)?$/.test(code);
}

/**
 * Whether the database itself refused the statement, so that nothing of it was written: any SQLSTATE but those that tell of a lost
 * connection, of spent resources or of a failure of the server. The system's codes (EPIPE) look alike but begin with an E.
 */
export function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return /^(?!E|08|53|57|58|XX)[0-9A-Z]{5}$/.test(code) || /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH)/.test(code);
}

/** MikroORM 6: knex gave up waiting for its pool. Its driver makes another error of it, with the same message. */
export function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Knex: Timeout acquiring a connection');
}

/**
 * Whether a prepared statement was refused as such: gone from the connection, or there already (a pooler in transaction mode), or of
 * a result that a migration changed.
 */
export function isPreparedRefused(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code === '26000' || code === '42P05' || (code === '0A000' && /cached plan/.test(String((error as Error).message)))
  );
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
