import { Migration } from '@mikro-orm/migrations';
import { UnsupportedDriverError } from '../src/core/errors.ts';

export type Dialect = 'postgresql' | 'sqlite';

/** A migration with statements of its own for each database. `schema` is set where the host's tables have one. */
export abstract class JobMigration extends Migration {
  protected addFor(statements: Record<Dialect, (schema?: string) => string[]>): void {
    for (const sql of statements[this.#dialect()](this.#schema())) this.addSql(sql);
  }

  #dialect(): Dialect {
    const platform = this.driver.getPlatform();
    if (platform.getDefaultSchemaName() === 'public') return 'postgresql';
    if (platform.getSchemaHelper()?.supportsSchemaConstraints() === false) return 'sqlite';

    throw new UnsupportedDriverError(this.driver.constructor.name);
  }

  /** Undefined for the default one: then `migrator.up({ schema })` decides by its search path. */
  #schema(): string | undefined {
    const schema = this.config.get('schema');

    return schema === this.driver.getPlatform().getDefaultSchemaName() ? undefined : schema;
  }
}
