import type { MigrationObject } from '@mikro-orm/core';
import { Migration20261130000000_durable_jobs } from './migration-0001-durable-jobs.ts';
import { Migration20261130000001_durable_dependencies_queues_recurring } from './migration-0002-durable-dependencies-queues-recurring.ts';
import { Migration20261130000002_durable_idempotency } from './migration-0003-durable-idempotency.ts';

export {
  Migration20261130000000_durable_jobs,
  Migration20261130000001_durable_dependencies_queues_recurring,
  Migration20261130000002_durable_idempotency,
};

/**
 * The schema changes of this library, oldest first, for the `migrationsList` of a host that writes its migrations by hand.
 * The names are what the migrations table keeps; a bundler that renames classes doesn't change them.
 */
export const jobMigrations: MigrationObject[] = [
  { name: 'Migration20261130000000_durable_jobs', class: Migration20261130000000_durable_jobs },
  {
    name: 'Migration20261130000001_durable_dependencies_queues_recurring',
    class: Migration20261130000001_durable_dependencies_queues_recurring,
  },
  { name: 'Migration20261130000002_durable_idempotency', class: Migration20261130000002_durable_idempotency },
];
