import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';

/** Reads no row; fails where a table that an executor uses is missing. */
export function checkSchema(t: Tables): Statement[] {
  return [t.job, t.attempt, t.executor, t.idempotency].map(table => sql`select 1 from ${table} where 1 = 0`);
}
