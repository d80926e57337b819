import * as postgresql from './0001-durable-jobs/postgresql.ts';
import * as sqlite from './0001-durable-jobs/sqlite.ts';
import { JobMigration } from './job-migration.ts';

/** Makes the tables of jobs, attempts, executors, inbox and outbox. Fails if one of them is there already. */
export class Migration20261130000000_durable_jobs extends JobMigration {
  override up(): void {
    this.addFor({ postgresql: postgresql.createTables, sqlite: sqlite.createTables });
  }

  override down(): void {
    this.addFor({ postgresql: postgresql.dropTables, sqlite: sqlite.dropTables });
  }
}
