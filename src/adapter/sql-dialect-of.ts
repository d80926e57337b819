import type { EntityManager } from '@mikro-orm/core';
import { UnsupportedDriverError } from '../core/errors.ts';
import type { SqlDialect } from './sql/dialect.ts';
import { postgresqlDialect } from './sql/postgresql/postgresql-dialect.ts';
import { sqliteDialect } from './sql/sqlite/sqlite-dialect.ts';

/** @throws UnsupportedDriverError for a driver that there are no statements for */
export function sqlDialectOf(em: EntityManager): SqlDialect {
  const platform = em.getPlatform().constructor.name;

  if (/postgre/i.test(platform)) {
    return postgresqlDialect;
  }
  if (/sqlite|libsql/i.test(platform)) {
    return sqliteDialect;
  }

  throw new UnsupportedDriverError(em.getDriver().constructor.name);
}
