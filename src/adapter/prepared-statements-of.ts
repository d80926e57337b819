import type { EntityManager } from '@mikro-orm/core';
import type { Clock } from '../core/clock.ts';
import { InvalidOptionError } from '../core/errors.ts';
import { PostgresqlPreparedStatements } from './postgresql-prepared-statements.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import type { SqlDialect } from './sql/dialect.ts';
import { SqlitePreparedStatements } from './sqlite-prepared-statements.ts';

/** Null: all is sent as text. @throws InvalidOptionError unless `isWanted` is a boolean */
export function preparedStatementsOf(
  em: EntityManager,
  dialect: SqlDialect,
  clock: Clock,
  isWanted?: boolean,
): PreparedStatements | null {
  if (isWanted !== undefined && typeof isWanted !== 'boolean') {
    throw new InvalidOptionError('preparedStatements', 'be true or false', isWanted);
  }
  if (isWanted === false) {
    return null;
  }

  return dialect.name === 'postgresql'
    ? new PostgresqlPreparedStatements(em, clock, isWanted)
    : new SqlitePreparedStatements(em);
}
