import { defineEntity, p, type EntitySchema } from '@mikro-orm/core';
import { check } from './check-constraint.ts';
import { CheckedStringType } from './checked-string-type.ts';
import { refuseRemoval } from './refuse-removal.ts';

/**
 * What an operator set for a queue; a queue without a row is neither paused nor capped. For reading; instants are
 * microseconds since the Unix epoch, absent values are null.
 */
class DurableJobQueue {
  /** The queue, as jobs name it. */
  name!: string;
  /** Whether none of its jobs is started. Those that run go on. */
  paused!: boolean;
  /** How many of its jobs may run at once, over all executors; at least 1, null: any number. */
  maxRunning!: number | null;
  /** Who changed it last. */
  changedBy!: string | null;
  /** When, in microseconds since the Unix epoch. */
  updatedAt!: number;
}

export { DurableJobQueue as JobQueue };

/** A handful of rows: no index beside the key. The row of a capped queue is what its claims lock. */
export const jobQueueSchema: EntitySchema<DurableJobQueue> = defineEntity<DurableJobQueue>({
  class: DurableJobQueue,
  name: 'DurableJobQueue',
  tableName: 'durable_job_queue',
  readonly: true,
  hooks: { beforeDelete: [refuseRemoval] },
  properties: {
    name: p.type(CheckedStringType).$type<string>().fieldName('name').length(255).primary(),
    paused: p.boolean().fieldName('paused'),
    maxRunning: p.integer().fieldName('max_running').nullable(),
    changedBy: p.string().fieldName('changed_by').length(255).nullable(),
    updatedAt: p.bigint('number').fieldName('updated_at'),
  },
  checks: [check('durable_job_queue_cap_check', 'max_running is null or max_running >= 1')],
});
