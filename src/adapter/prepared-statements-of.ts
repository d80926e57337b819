import type { EntityManager } from '@mikro-orm/core';
import type { Clock } from '../core/clock.ts';
import { PostgresqlPreparedStatements } from './postgresql-prepared-statements.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import type { SqlDialect } from './sql/dialect.ts';
import { SqlitePreparedStatements } from './sqlite-prepared-statements.ts';

/** Null: all is sent as text. */
export function preparedStatementsOf(
  em: EntityManager,
  dialect: SqlDialect,
  clock: Clock,
  isWanted?: boolean,
): PreparedStatements | null {
  if (isWanted === false) {
    return null;
  }

  return dialect.name === 'postgresql'
    ? new PostgresqlPreparedStatements(em, clock, isWanted)
    : new SqlitePreparedStatements(em);
}
