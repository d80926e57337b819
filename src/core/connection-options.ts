import { durationMs, type Duration } from './duration.ts';
import { InvalidOptionError } from './errors.ts';

/** A timer takes a longer time for none at all. */
export function checkedConnectionTimeout(timeout: Duration): number {
  const ms = durationMs(timeout, 'connectionTimeout');
  if (ms > 2_147_483_647) {
    throw new InvalidOptionError('connectionTimeout', 'be at most 24 days', timeout);
  }

  return ms;
}

/** Undefined: unless a pooler stands in between. */
export function checkedPreparedStatements(preparedStatements: unknown): boolean | undefined {
  if (preparedStatements !== undefined && typeof preparedStatements !== 'boolean') {
    throw new InvalidOptionError('preparedStatements', 'be true or false', preparedStatements);
  }

  return preparedStatements;
}

export function checkedNotifications(notifications: unknown): false | { readonly connectionString: string | null } {
  if (typeof notifications === 'boolean') {
    return notifications && { connectionString: null };
  }

  const { connectionString, ...others } = (notifications ?? {}) as { connectionString?: unknown };
  if (Object.keys(others).length > 0 || typeof connectionString !== 'string' || connectionString === '') {
    throw new InvalidOptionError('notifications', 'be true, false or { connectionString }', notifications);
  }

  return { connectionString };
}
