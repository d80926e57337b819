import { defineEntity, p, type EntitySchema } from '@mikro-orm/core';
import { check } from './check-constraint.ts';
import { createIndex } from './create-index.ts';
import { refuseRemoval } from './refuse-removal.ts';
import { CheckedStringType } from './checked-string-type.ts';

export const outboxStates = ['pending', 'sending', 'sent', 'review'] as const;
export type OutboxState = (typeof outboxStates)[number];

/**
 * A message that was committed with the business rows and is to be sent. For reading; instants are microseconds since the
 * Unix epoch, absent values are null.
 */
class DurableOutboxMessage {
  /** The sender's id of the message; what the receiver deduplicates by. */
  id!: string;
  /** Where it goes; null leaves that to the relay. */
  destination!: string | null;

  /** Name of the message's contract. */
  name!: string;
  /** Version of that contract. */
  version!: string;
  /** The document, byte for byte as it was added; every sending sends these bytes. */
  document!: string;
  /** Lower-case hex SHA-256 of the document's UTF-8. */
  documentSha256!: string;

  /** How far the sending is. `review` waits for an operator. */
  state!: OutboxState;
  /** The fence: UUIDv4 of the relay that is sending, null otherwise. */
  lockToken!: string | null;
  /** Until when that relay holds the message without a renewal, in microseconds since the Unix epoch. */
  leaseUntil!: number | null;
  /** One more with every taking of the message. */
  leaseEpoch!: number;
  /** Sendings begun. */
  sendCount!: number;
  /** Failures recorded. */
  failureCount!: number;
  /** When it may be sent (again), in microseconds since the Unix epoch. */
  nextSendAt!: number;
  /** It is not sent any more after this, in microseconds since the Unix epoch. */
  sendDeadline!: number | null;
  /** Stable code of why the sending stopped. */
  stopCode!: string | null;
  /** What the receiver answered. */
  receipt!: string | null;

  /** The host's correlation id. */
  correlationId!: string | null;
  /** W3C `traceparent` when it was added. */
  traceParent!: string | null;
  /** W3C `tracestate` when it was added. */
  traceState!: string | null;
  /** Microseconds since the Unix epoch, strictly increasing within the process that added it. */
  createdAt!: number;
  /** When it was sent, in microseconds since the Unix epoch. */
  finishedAt!: number | null;
}

export { DurableOutboxMessage as OutboxMessage };

export const outboxMessageSchema: EntitySchema<DurableOutboxMessage> = defineEntity<DurableOutboxMessage>({
  class: DurableOutboxMessage,
  name: 'DurableOutboxMessage',
  tableName: 'durable_outbox_message',
  readonly: true,
  hooks: { beforeDelete: [refuseRemoval] },
  properties: {
    id: p.string().fieldName('id').length(255).primary(),
    destination: p.string().fieldName('destination').length(255).nullable(),

    name: p.string().fieldName('name').length(255),
    version: p.string().fieldName('version').length(64),
    document: p.text().fieldName('document'),
    documentSha256: p.string().fieldName('document_sha256').length(64),

    state: p.type(CheckedStringType).$type<OutboxState>().fieldName('state').length(16),
    lockToken: p.string().fieldName('lock_token').length(36).nullable(),
    leaseUntil: p.bigint('number').fieldName('lease_until').nullable(),
    leaseEpoch: p.integer().fieldName('lease_epoch'),
    sendCount: p.integer().fieldName('send_count'),
    failureCount: p.integer().fieldName('failure_count'),
    nextSendAt: p.bigint('number').fieldName('next_send_at'),
    sendDeadline: p.bigint('number').fieldName('send_deadline').nullable(),
    stopCode: p.string().fieldName('stop_code').length(32).nullable(),
    receipt: p.text().fieldName('receipt').nullable(),

    correlationId: p.string().fieldName('correlation_id').length(255).nullable(),
    traceParent: p.string().fieldName('trace_parent').length(128).nullable(),
    traceState: p.string().fieldName('trace_state').length(512).nullable(),
    createdAt: p.bigint('number').fieldName('created_at'),
    finishedAt: p.bigint('number').fieldName('finished_at').nullable(),
  },
  checks: [
    check('durable_outbox_message_state_check', isOneOf => isOneOf('state', outboxStates)),
    check(
      'durable_outbox_message_sending_check',
      "state <> 'sending' or (lock_token is not null and lease_until is not null)",
    ),
  ],
  indexes: [
    // send: what is due, the oldest first
    createIndex(
      'durable_outbox_message_unsent',
      `(state, next_send_at, created_at, id) where state = 'pending' or state = 'sending'`,
    ),
    // cleanup: what was sent, and when
    createIndex('durable_outbox_message_finished', '(state, finished_at) where finished_at is not null'),
  ],
});
