import { defineEntity, p, type EntitySchema } from '@mikro-orm/core';
import { check } from './check-constraint.ts';
import { CheckedStringType } from './checked-string-type.ts';
import { createIndex } from './create-index.ts';
import { refuseRemoval } from './refuse-removal.ts';

export const idempotencyStates = ['in_progress', 'completed'] as const;
export type IdempotencyState = (typeof idempotencyStates)[number];

/**
 * A key of `job.once()`: who is at work under it, or what the work gave. For reading; instants are microseconds since the
 * Unix epoch, absent values are null.
 */
class DurableIdempotencyClaim {
  /** Lower-case hex SHA-256 of scope and key together, with their lengths. */
  keyHash!: string;
  /** The scope of the jobs that share the key, to be read by people; the hash identifies. */
  scope!: string;
  /** The key as the handler gave it, likewise. */
  key!: string;
  /** Whether somebody is at work, or the work is done. */
  state!: IdempotencyState;
  /** The job, in that scope, whose attempt is at work or did it. */
  ownerJobId!: string;
  /** The token of that attempt: only under it is the claim completed. */
  ownerToken!: string;
  /** When it may be taken from an attempt that still runs; null: it is completed. */
  claimExpiresAt!: number | null;
  /** Until when the value is given to who asks; null: it is in progress. */
  resultExpiresAt!: number | null;
  /** JSON text of what the work gave; null: nothing, or nothing yet. */
  value!: string | null;
}

export { DurableIdempotencyClaim as IdempotencyClaim };

export const idempotencyClaimSchema: EntitySchema<DurableIdempotencyClaim> = defineEntity<DurableIdempotencyClaim>({
  class: DurableIdempotencyClaim,
  name: 'DurableIdempotencyClaim',
  tableName: 'durable_idempotency_claim',
  readonly: true,
  hooks: { beforeDelete: [refuseRemoval] },
  properties: {
    keyHash: p.string().fieldName('key_hash').length(64).primary(),
    scope: p.text().fieldName('scope'),
    key: p.string().fieldName('key').length(255),
    state: p.type(CheckedStringType).$type<IdempotencyState>().fieldName('state').length(16),
    ownerJobId: p.string().fieldName('owner_job_id').length(128),
    ownerToken: p.string().fieldName('owner_token').length(36),
    claimExpiresAt: p.bigint('number').fieldName('claim_expires_at').nullable(),
    resultExpiresAt: p.bigint('number').fieldName('result_expires_at').nullable(),
    value: p.text().fieldName('value').nullable(),
  },
  checks: [
    check('durable_idempotency_claim_state_check', isOneOf => isOneOf('state', idempotencyStates)),
    check('durable_idempotency_claim_progress_check', "(claim_expires_at is not null) = (state = 'in_progress')"),
    check('durable_idempotency_claim_result_check', "(result_expires_at is not null) = (state = 'completed')"),
    check('durable_idempotency_claim_value_check', "value is null or state = 'completed'"),
  ],
  indexes: [
    // prune: results whose time is over, and claims that nobody came back for
    createIndex('durable_idempotency_claim_results', '(result_expires_at) where result_expires_at is not null'),
    createIndex('durable_idempotency_claim_claims', '(claim_expires_at) where claim_expires_at is not null'),
  ],
});
