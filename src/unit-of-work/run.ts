import type { EntityManager } from '@mikro-orm/core';

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

/** What both majors' SQL drivers have, beneath the EntityManager: no flush, no subscribers, no context, no replica. */
interface SqlDriver {
  execute(sql: string, params: readonly Value[], method: 'all', transaction: unknown): Promise<Row[]>;
}

/** Sends a statement in the EntityManager's transaction, or on a connection of its own when there is none. */
export function run(em: EntityManager, sql: string, params: readonly Value[]): Promise<Row[]> {
  const driver = em.getDriver() as unknown as SqlDriver;

  return driver.execute(sql, params, 'all', em.getTransactionContext());
}
