import { oneLine } from '../one-line.ts';

// Frozen: what was released is never changed, a later migration changes the tables.

export function createTables(): string[] {
  return [
    `alter table "durable_job" add column "initial_queue" text null`,
    `create index "durable_job_awaiting" on "durable_job" (scope_hash, id) where state = 'awaiting'`,
    `create index "durable_job_recurring" on "durable_job" (scope_hash, recurring_id, created_at desc) where recurring_id is not null`,

    `create table "durable_job_dependency" (
      "scope_hash" text not null,
      "job_id" text not null,
      "parent_id" text not null,
      primary key ("scope_hash", "job_id", "parent_id")
    )`,
    `create index "durable_job_dependency_resolve" on "durable_job_dependency" (scope_hash, parent_id, job_id)`,

    `create table "durable_job_queue" (
      "name" text not null,
      "paused" integer not null,
      "max_running" integer null,
      "changed_by" text null,
      "updated_at" bigint not null,
      primary key ("name"),
      constraint "durable_job_queue_cap_check" check (max_running is null or max_running >= 1)
    )`,

    `create table "durable_recurring_job" (
      "scope_hash" text not null,
      "id" text not null,
      "scope" text not null,
      "cron" text not null,
      "time_zone" text not null,
      "name" text not null,
      "version" text not null,
      "payload" text not null,
      "queue" text not null,
      "priority" integer not null,
      "max_attempts" integer not null,
      "timeout_ms" integer null,
      "retry_policy" text null,
      "lifetime_ms" bigint null,
      "on_interrupt" text not null,
      "metadata" text null,
      "missed" text not null,
      "missed_limit" integer null,
      "overlap" text not null,
      "next_fire_at" bigint null,
      "last_fire_at" bigint null,
      "paused" integer not null,
      "changed_by" text null,
      "created_at" bigint not null,
      "updated_at" bigint not null,
      primary key ("scope_hash", "id"),
      constraint "durable_recurring_job_interrupt_check" check (on_interrupt = 'hold' or on_interrupt = 'requeue'),
      constraint "durable_recurring_job_missed_check" check (missed = 'one' or missed = 'none' or missed = 'all'),
      constraint "durable_recurring_job_limit_check" check (missed_limit is null or (missed = 'all' and missed_limit >= 1)),
      constraint "durable_recurring_job_overlap_check" check (overlap = 'queue' or overlap = 'skip')
    )`,
    `create index "durable_recurring_job_due" on "durable_recurring_job" (next_fire_at) where not paused and next_fire_at is not null`,
  ].map(oneLine);
}

export function dropTables(): string[] {
  return [
    `drop table "durable_recurring_job"`,
    `drop table "durable_job_queue"`,
    `drop table "durable_job_dependency"`,
    `drop index "durable_job_recurring"`,
    `drop index "durable_job_awaiting"`,
    `alter table "durable_job" drop column "initial_queue"`,
  ];
}
