import { UnderscoreNamingStrategy } from '@mikro-orm/core';

/** A host's own taste in everything that a strategy can name. */
export class ShoutingNamingStrategy extends UnderscoreNamingStrategy {
  override classToTableName(entityName: string): string {
    return `T_${entityName}`;
  }

  override propertyToColumnName(propertyName: string): string {
    return `C_${propertyName.toUpperCase()}`;
  }

  override indexName(tableName: string, columns: string[], type: 'primary' | 'foreign' | 'unique'): string {
    return `N_${tableName}_${columns.join('_')}_${type}`.toUpperCase();
  }
}
