import type { EntityManager } from '@mikro-orm/core';
import { SchemaMissingError } from '../core/errors.ts';

/** A row as the driver gives it: the column's name, and whatever the driver makes of its type. */
export type Row = Readonly<Record<string, unknown>>;

/** What both majors' SQL drivers have, beneath the EntityManager: no flush, no subscribers, no context, no replica. */
interface SqlDriver {
  execute(sql: string, params: readonly unknown[], method: 'all', transaction: unknown): Promise<Row[]>;
}

/**
 * Sends a statement about tables of ours in the given transaction or on the given connection; undefined: on any.
 *
 * @throws SchemaMissingError
 */
export function runSql(
  em: EntityManager,
  transaction: unknown,
  sql: string,
  params: readonly unknown[],
): Promise<Row[]> {
  const driver = em.getDriver() as unknown as SqlDriver;

  return inOurTerms(() => driver.execute(sql, params, 'all', transaction));
}

/** @throws SchemaMissingError where the statement missed a table or a column */
export async function inOurTerms<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    throw isSchemaMissing(error) ? new SchemaMissingError({ cause: error }) : error;
  }
}

const missingTableCode = '42P01';
const missingColumnCode = '42703';

/** Whether a table of ours, or a column of one, is not there. */
function isSchemaMissing(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const isMissingInSqlite = /no such (table|column)|has no column named/.test(String(message));

  return (
    code === missingTableCode ||
    code === missingColumnCode ||
    (isMissingInSqlite && typeof code === 'string' && code.startsWith('SQLITE'))
  );
}
