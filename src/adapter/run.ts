import type { EntityManager } from '@mikro-orm/core';
import { inOurTerms, runSql } from '../entities/run-sql.ts';
import type { Kysely, PreparedStatements } from './prepared-statements.ts';
import type { Run } from './session.ts';

/** Sends statements in the given transaction or on the given connection, or else on any. */
export function runOn(em: EntityManager, transaction: unknown, prepared: PreparedStatements | null): Run {
  return statement => {
    const asText = () => runSql(em, transaction, statement.sql, statement.params);

    return statement.isPrepared && prepared !== null
      ? inOurTerms(() => prepared.send(statement, transaction as Kysely | undefined, asText))
      : asText();
  };
}
