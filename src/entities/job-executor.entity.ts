import { defineEntity, p, type EntitySchema } from '@mikro-orm/core';
import { check } from './check-constraint.ts';
import { refuseRemoval } from './refuse-removal.ts';
import { CheckedStringType } from './checked-string-type.ts';

/** `active` holds jobs, `lapsed` was declared dead by another executor, `stopped` said goodbye. */
export const executorStates = ['active', 'lapsed', 'stopped'] as const;
export type ExecutorState = (typeof executorStates)[number];

/** A process that runs jobs, and its lease. For reading; instants are microseconds since the Unix epoch. */
class DurableExecutor {
  /** Made anew with each start of an executor. */
  id!: string;
  /** What the host calls it. */
  name!: string;
  /** The machine that it runs on. */
  host!: string;
  /** Whether it may hold jobs. */
  state!: ExecutorState;
  /** Until when it holds its jobs without a renewal, in microseconds since the Unix epoch; null: without a lease. */
  leaseUntil!: number | null;
  /** Microseconds since the Unix epoch. */
  startedAt!: number;
  /** JSON text: its queues, its definitions, its concurrency. */
  metadata!: string | null;
}

export { DurableExecutor as JobExecutor };

/** A handful of rows: no index beside the key, and none on the lease, so that renewals stay heap-only. */
export const jobExecutorSchema: EntitySchema<DurableExecutor> = defineEntity<DurableExecutor>({
  class: DurableExecutor,
  name: 'DurableExecutor',
  tableName: 'durable_executor',
  readonly: true,
  hooks: { beforeDelete: [refuseRemoval] },
  properties: {
    id: p.string().fieldName('id').length(128).primary(),
    name: p.string().fieldName('name').length(255),
    host: p.string().fieldName('host').length(255),
    state: p.type(CheckedStringType).$type<ExecutorState>().fieldName('state').length(16),
    leaseUntil: p.bigint('number').fieldName('lease_until').nullable(),
    startedAt: p.bigint('number').fieldName('started_at'),
    metadata: p.text().fieldName('metadata').nullable(),
  },
  checks: [check('durable_executor_state_check', isOneOf => isOneOf('state', executorStates))],
});
