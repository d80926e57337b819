// Frozen: what was released is never changed, a later migration changes the tables.

export function createTables(schema?: string): string[] {
  const prefix = schema ? `"${schema}".` : '';

  return [
    `create table ${prefix}"durable_idempotency_claim" (
      "key_hash" varchar(64) not null,
      "scope" text not null,
      "key" varchar(255) not null,
      "state" varchar(16) not null,
      "owner_job_id" varchar(128) not null,
      "owner_token" varchar(36) not null,
      "claim_expires_at" bigint null,
      "result_expires_at" bigint null,
      "value" text null,
      primary key ("key_hash"),
      constraint "durable_idempotency_claim_state_check" check (((state)::text = any ('{in_progress,completed}'::text[])) is true),
      constraint "durable_idempotency_claim_progress_check" check ((claim_expires_at is not null) = (state = 'in_progress')),
      constraint "durable_idempotency_claim_result_check" check ((result_expires_at is not null) = (state = 'completed')),
      constraint "durable_idempotency_claim_value_check" check (value is null or state = 'completed')
    )`,
    `create index "durable_idempotency_claim_results" on ${prefix}"durable_idempotency_claim" (result_expires_at) where result_expires_at is not null`,
    `create index "durable_idempotency_claim_claims" on ${prefix}"durable_idempotency_claim" (claim_expires_at) where claim_expires_at is not null`,
  ];
}

export function dropTables(schema?: string): string[] {
  const prefix = schema ? `"${schema}".` : '';

  return [`drop table ${prefix}"durable_idempotency_claim"`];
}
