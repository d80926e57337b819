import type { EntityManager } from '@mikro-orm/core';
import { SchemaMissingError } from '../core/errors.ts';
import { isSchemaMissing } from './database-errors.ts';
import type { Row, Run } from './session.ts';

/** What both majors' SQL drivers have, beneath the EntityManager: no flush, no subscribers, no context, no replica. */
interface SqlDriver {
  execute(sql: string, params: readonly unknown[], method: 'all', ctx?: unknown): Promise<Row[]>;
}

/** Sends statements in the given transaction or on the given connection, or else on any. */
export function runOn(em: EntityManager, transaction: unknown): Run {
  const driver = em.getDriver() as unknown as SqlDriver;

  return async ({ sql, params }) => {
    try {
      return await driver.execute(sql, params, 'all', transaction);
    } catch (error) {
      throw isSchemaMissing(error) ? new SchemaMissingError({ cause: error }) : error;
    }
  };
}
