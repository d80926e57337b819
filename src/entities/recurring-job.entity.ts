import { defineEntity, p, type EntitySchema, type PrimaryKeyProp } from '@mikro-orm/core';
import { check } from './check-constraint.ts';
import { CheckedStringType } from './checked-string-type.ts';
import { createIndex } from './create-index.ts';
import { refuseRemoval } from './refuse-removal.ts';

/** What becomes of occurrences that nobody fired in time: one job for them together, none, or one each up to a limit. */
export const missedPolicies = ['one', 'none', 'all'] as const;
export type MissedPolicy = (typeof missedPolicies)[number];

/** What an occurrence does while an earlier job is still active: it is queued beside it, or skipped. */
export const overlapPolicies = ['queue', 'skip'] as const;
export type OverlapPolicy = (typeof overlapPolicies)[number];

/**
 * A schedule, and the job that it submits at each occurrence. For reading; instants are microseconds since the Unix
 * epoch, absent values are null.
 */
class DurableRecurringJob {
  declare [PrimaryKeyProp]?: ['scopeHash', 'id'];

  /** First part of the key: lower-case hex SHA-256 of the scope's UTF-8. */
  scopeHash!: string;
  /** Second part of the key: given by the host. */
  id!: string;
  /** The scope itself, to be read by people; the hash identifies. */
  scope!: string;

  /** The cron expression as given. */
  cron!: string;
  /** IANA name of the time zone that it is read in. */
  timeZone!: string;

  /** Name of the definition that runs its jobs. */
  name!: string;
  /** Version of that definition. */
  version!: string;
  /** JSON text that each job gets as its payload, byte for byte. */
  payload!: string;
  /** The queue that its jobs wait in. */
  queue!: string;
  /** Of its jobs; higher starts first. */
  priority!: number;
  /** Starts allowed for each of its jobs. */
  maxAttempts!: number;
  /** Milliseconds that one attempt may take, when the schedule overrides its definition. */
  timeoutMs!: number | null;
  /** JSON text of the retry policy, when the schedule overrides its definition. */
  retryPolicy!: string | null;
  /** Milliseconds after an occurrence past which no retry of its job is scheduled. */
  lifetimeMs!: number | null;
  /** Whether an interrupted start of its jobs may be run again unasked (`requeue`) or not (`hold`). */
  onInterrupt!: 'hold' | 'requeue';
  /** JSON text of the labels that each job gets. */
  metadata!: string | null;

  /** What becomes of occurrences that nobody fired in time. */
  missed!: MissedPolicy;
  /** How many of them are made up for at most; only with `all`. */
  missedLimit!: number | null;
  /** What an occurrence does while an earlier job is still active. */
  overlap!: OverlapPolicy;

  /** The next occurrence, in microseconds since the Unix epoch; null: there is none, or none can be found. */
  nextFireAt!: number | null;
  /** The occurrence that was fired last, in microseconds since the Unix epoch. */
  lastFireAt!: number | null;
  /** Whether it doesn't fire. */
  paused!: boolean;
  /** Who did the last operator action. */
  changedBy!: string | null;
  /** Microseconds since the Unix epoch. */
  createdAt!: number;
  /** Microseconds since the Unix epoch. */
  updatedAt!: number;
}

export { DurableRecurringJob as RecurringJob };

export const recurringJobSchema: EntitySchema<DurableRecurringJob> = defineEntity<DurableRecurringJob>({
  class: DurableRecurringJob,
  name: 'DurableRecurringJob',
  tableName: 'durable_recurring_job',
  readonly: true,
  hooks: { beforeDelete: [refuseRemoval] },
  properties: {
    scopeHash: p.string().fieldName('scope_hash').length(64).primary(),
    id: p.string().fieldName('id').length(128).primary(),
    scope: p.text().fieldName('scope'),

    cron: p.string().fieldName('cron').length(255),
    timeZone: p.string().fieldName('time_zone').length(64),

    name: p.string().fieldName('name').length(255),
    version: p.string().fieldName('version').length(64),
    payload: p.text().fieldName('payload'),
    queue: p.string().fieldName('queue').length(255),
    priority: p.integer().fieldName('priority'),
    maxAttempts: p.integer().fieldName('max_attempts'),
    timeoutMs: p.integer().fieldName('timeout_ms').nullable(),
    retryPolicy: p.text().fieldName('retry_policy').nullable(),
    lifetimeMs: p.bigint('number').fieldName('lifetime_ms').nullable(),
    onInterrupt: p.string().$type<'hold' | 'requeue'>().fieldName('on_interrupt').length(16),
    metadata: p.text().fieldName('metadata').nullable(),

    missed: p.type(CheckedStringType).$type<MissedPolicy>().fieldName('missed').length(16),
    missedLimit: p.integer().fieldName('missed_limit').nullable(),
    overlap: p.string().$type<OverlapPolicy>().fieldName('overlap').length(16),

    nextFireAt: p.bigint('number').fieldName('next_fire_at').nullable(),
    lastFireAt: p.bigint('number').fieldName('last_fire_at').nullable(),
    paused: p.boolean().fieldName('paused'),
    changedBy: p.string().fieldName('changed_by').length(255).nullable(),
    createdAt: p.bigint('number').fieldName('created_at'),
    updatedAt: p.bigint('number').fieldName('updated_at'),
  },
  checks: [
    check('durable_recurring_job_interrupt_check', isOneOf => isOneOf('on_interrupt', ['hold', 'requeue'])),
    check('durable_recurring_job_missed_check', isOneOf => isOneOf('missed', missedPolicies)),
    check('durable_recurring_job_limit_check', "missed_limit is null or (missed = 'all' and missed_limit >= 1)"),
    check('durable_recurring_job_overlap_check', isOneOf => isOneOf('overlap', overlapPolicies)),
  ],
  indexes: [
    // fire: what is due, the most overdue first
    createIndex('durable_recurring_job_due', '(next_fire_at) where not paused and next_fire_at is not null'),
  ],
});
