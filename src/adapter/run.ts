import type { EntityManager } from '@mikro-orm/core';
import { SchemaMissingError } from '../core/errors.ts';
import { isSchemaMissing } from './database-errors.ts';
import type { Kysely, PreparedStatements } from './prepared-statements.ts';
import type { Row, Run } from './session.ts';

/** What both majors' SQL drivers have, beneath the EntityManager: no flush, no subscribers, no context, no replica. */
interface SqlDriver {
  execute(sql: string, params: readonly unknown[], method: 'all', ctx?: unknown): Promise<Row[]>;
}

/** Sends statements in the given transaction or on the given connection, or else on any. */
export function runOn(em: EntityManager, transaction: unknown, prepared: PreparedStatements | null): Run {
  const driver = em.getDriver() as unknown as SqlDriver;

  return async statement => {
    const asText = () => driver.execute(statement.sql, statement.params, 'all', transaction);

    try {
      return await (statement.isPrepared && prepared !== null
        ? prepared.send(statement, transaction as Kysely | undefined, asText)
        : asText());
    } catch (error) {
      throw isSchemaMissing(error) ? new SchemaMissingError({ cause: error }) : error;
    }
  };
}
