import type { EntityManager } from '@mikro-orm/core';
import { runSql } from '../entities/run-sql.ts';
import type { Run } from './session.ts';

/** Sends statements in the given transaction or on the given connection, or else on any. */
export function runOn(em: EntityManager, transaction: unknown): Run {
  return ({ sql, params }) => runSql(em, transaction, sql, params);
}
