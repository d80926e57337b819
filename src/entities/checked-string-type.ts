import { MikroORM, StringType, type EntityMetadata, type EntityProperty, type Platform } from '@mikro-orm/core';
import type { Check } from './check-constraint.ts';

/**
 * The type of one text column in each table with CHECKs, which are seen through it by the database's platform.
 *
 * - PostgreSQL is given its own words of them.
 * - Where MikroORM can't read CHECKs back (6 on SQLite), the column's type carries them: as constraints of the table, every schema
 *   diff would find them missing and add them with a statement that SQLite doesn't have.
 */
export class CheckedStringType extends StringType {
  override getColumnType(prop: EntityProperty, platform: Platform): string {
    const type = super.getColumnType(prop, platform);
    if (!this.meta) return type; // first asked before it is part of an entity

    if (/postgre/i.test(platform.constructor.name)) {
      speakPostgreSql(this.meta);

      return type;
    }

    return readsChecks(platform) ? type : [type, ...takeChecks(this.meta)].join(' ');
  }
}

/** A check that a host added has no words but its own. */
function speakPostgreSql(meta: EntityMetadata): void {
  meta.checks = meta.checks.map(check => ({
    ...check,
    expression: (check as Partial<Check>).onPostgreSql ?? check.expression,
  }));
}

function takeChecks(meta: EntityMetadata): string[] {
  return meta.checks.splice(0).map(({ name, expression }) => `constraint ${name} check (${expression as string})`);
}

function readsChecks(platform: Platform): boolean {
  const isMajor6 = 'initSync' in MikroORM;
  const schema = platform.getSchemaHelper() as { supportsSchemaConstraints(): boolean } | undefined;

  return !isMajor6 || schema?.supportsSchemaConstraints() !== false;
}
