import { oneLine } from '../one-line.ts';

// Frozen: what was released is never changed, a later migration changes the tables.

export function createTables(): string[] {
  return [
    `create table "durable_idempotency_claim" (
      "key_hash" text not null,
      "scope" text not null,
      "key" text not null,
      "state" text not null,
      "owner_job_id" text not null,
      "owner_token" text not null,
      "claim_expires_at" bigint null,
      "result_expires_at" bigint null,
      "value" text null,
      primary key ("key_hash"),
      constraint "durable_idempotency_claim_state_check" check (state = 'in_progress' or state = 'completed'),
      constraint "durable_idempotency_claim_progress_check" check ((claim_expires_at is not null) = (state = 'in_progress')),
      constraint "durable_idempotency_claim_result_check" check ((result_expires_at is not null) = (state = 'completed')),
      constraint "durable_idempotency_claim_value_check" check (value is null or state = 'completed')
    )`,
    `create index "durable_idempotency_claim_results" on "durable_idempotency_claim" (result_expires_at) where result_expires_at is not null`,
    `create index "durable_idempotency_claim_claims" on "durable_idempotency_claim" (claim_expires_at) where claim_expires_at is not null`,
  ].map(oneLine);
}

export function dropTables(): string[] {
  return [`drop table "durable_idempotency_claim"`];
}
