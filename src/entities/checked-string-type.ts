import { MikroORM, StringType, type EntityProperty, type Platform } from '@mikro-orm/core';

/**
 * The type of one text column in each table with CHECKs. Where MikroORM can't read CHECKs back (6 on SQLite), it carries
 * those of its table in the column's type: as constraints of the table, every schema diff would find them missing and add
 * them with a statement that SQLite doesn't have.
 */
export class CheckedStringType extends StringType {
  override getColumnType(prop: EntityProperty, platform: Platform): string {
    const type = super.getColumnType(prop, platform);
    if (!this.meta || readsChecks(platform)) return type; // first asked before it is part of an entity

    const checks = this.meta.checks.splice(0);

    return [type, ...checks.map(({ name, expression }) => `constraint ${name} check (${expression as string})`)].join(
      ' ',
    );
  }
}

function readsChecks(platform: Platform): boolean {
  const isMajor6 = 'initSync' in MikroORM;
  const schema = platform.getSchemaHelper() as { supportsSchemaConstraints(): boolean } | undefined;

  return !isMajor6 || schema?.supportsSchemaConstraints() !== false;
}
