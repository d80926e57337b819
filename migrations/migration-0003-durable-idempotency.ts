import * as postgresql from './0003-durable-idempotency/postgresql.ts';
import * as sqlite from './0003-durable-idempotency/sqlite.ts';
import { JobMigration } from './job-migration.ts';

/** Makes the table of what `job.once()` keeps. */
export class Migration20261130000002_durable_idempotency extends JobMigration {
  override up(): void {
    this.addFor({ postgresql: postgresql.createTables, sqlite: sqlite.createTables });
  }

  override down(): void {
    this.addFor({ postgresql: postgresql.dropTables, sqlite: sqlite.dropTables });
  }
}
