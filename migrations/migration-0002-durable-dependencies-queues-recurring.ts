import * as postgresql from './0002-durable-dependencies-queues-recurring/postgresql.ts';
import * as sqlite from './0002-durable-dependencies-queues-recurring/sqlite.ts';
import { JobMigration } from './job-migration.ts';

/** Makes the tables of dependencies, queues and recurring jobs, an index of awaiting jobs, and the queue that a moved one came from. */
export class Migration20261130000001_durable_dependencies_queues_recurring extends JobMigration {
  override up(): void {
    this.addFor({ postgresql: postgresql.createTables, sqlite: sqlite.createTables });
  }

  override down(): void {
    this.addFor({ postgresql: postgresql.dropTables, sqlite: sqlite.dropTables });
  }
}
