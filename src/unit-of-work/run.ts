import type { EntityManager } from '@mikro-orm/core';
import { refuseEndedTransaction } from '../entities/refuse-ended-transaction.ts';
import { runSql, type Row } from '../entities/run-sql.ts';

export type Value = string | number | null;

/** Sends a statement in the EntityManager's transaction, or on a connection of its own when there is none. */
export async function run(em: EntityManager, sql: string, params: readonly Value[]): Promise<Row[]> {
  if (em.isInTransaction()) {
    refuseEndedTransaction(em);
  }

  return runSql(em, em.getTransactionContext(), sql, params);
}
