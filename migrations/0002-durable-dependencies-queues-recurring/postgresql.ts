// Frozen: what was released is never changed, a later migration changes the tables.

export function createTables(schema?: string): string[] {
  const prefix = schema ? `"${schema}".` : '';

  return [
    `alter table ${prefix}"durable_job" add column "initial_queue" varchar(255) null`,
    `create index "durable_job_awaiting" on ${prefix}"durable_job" (scope_hash, id) where state = 'awaiting'`,
    `create index "durable_job_recurring" on ${prefix}"durable_job" (scope_hash, recurring_id, created_at desc) where recurring_id is not null`,

    `create table ${prefix}"durable_job_dependency" (
      "scope_hash" varchar(64) not null,
      "job_id" varchar(128) not null,
      "parent_id" varchar(128) not null,
      primary key ("scope_hash", "job_id", "parent_id")
    )`,
    `create index "durable_job_dependency_resolve" on ${prefix}"durable_job_dependency" (scope_hash, parent_id, job_id)`,

    `create table ${prefix}"durable_job_queue" (
      "name" varchar(255) not null,
      "paused" boolean not null,
      "max_running" int null,
      "changed_by" varchar(255) null,
      "updated_at" bigint not null,
      primary key ("name"),
      constraint "durable_job_queue_cap_check" check (max_running is null or max_running >= 1)
    )`,

    `create table ${prefix}"durable_recurring_job" (
      "scope_hash" varchar(64) not null,
      "id" varchar(128) not null,
      "scope" text not null,
      "cron" varchar(255) not null,
      "time_zone" varchar(64) not null,
      "name" varchar(255) not null,
      "version" varchar(64) not null,
      "payload" text not null,
      "queue" varchar(255) not null,
      "priority" int not null,
      "max_attempts" int not null,
      "timeout_ms" int null,
      "retry_policy" text null,
      "lifetime_ms" bigint null,
      "on_interrupt" varchar(16) not null,
      "metadata" text null,
      "missed" varchar(16) not null,
      "missed_limit" int null,
      "overlap" varchar(16) not null,
      "next_fire_at" bigint null,
      "last_fire_at" bigint null,
      "paused" boolean not null,
      "changed_by" varchar(255) null,
      "created_at" bigint not null,
      "updated_at" bigint not null,
      primary key ("scope_hash", "id"),
      constraint "durable_recurring_job_interrupt_check" check (((on_interrupt)::text = any ('{hold,requeue}'::text[])) is true),
      constraint "durable_recurring_job_missed_check" check (((missed)::text = any ('{one,none,all}'::text[])) is true),
      constraint "durable_recurring_job_limit_check" check (missed_limit is null or (missed = 'all' and missed_limit >= 1)),
      constraint "durable_recurring_job_overlap_check" check (((overlap)::text = any ('{queue,skip}'::text[])) is true)
    )`,
    `create index "durable_recurring_job_due" on ${prefix}"durable_recurring_job" (next_fire_at) where not paused and next_fire_at is not null`,
  ];
}

export function dropTables(schema?: string): string[] {
  const prefix = schema ? `"${schema}".` : '';

  return [
    `drop table ${prefix}"durable_recurring_job"`,
    `drop table ${prefix}"durable_job_queue"`,
    `drop table ${prefix}"durable_job_dependency"`,
    `drop index ${prefix}"durable_job_recurring"`,
    `drop index ${prefix}"durable_job_awaiting"`,
    `alter table ${prefix}"durable_job" drop column "initial_queue"`,
  ];
}
