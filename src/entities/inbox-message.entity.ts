import { defineEntity, p, type EntitySchema, type PrimaryKeyProp } from '@mikro-orm/core';
import { check } from './check-constraint.ts';
import { createIndex } from './create-index.ts';
import { refuseRemoval } from './refuse-removal.ts';
import { CheckedStringType } from './checked-string-type.ts';

export const inboxStates = ['processing', 'processed', 'failed', 'dead_lettered'] as const;
export type InboxState = (typeof inboxStates)[number];

/**
 * The receipt of one message for one consumer. For reading; instants are microseconds since the Unix epoch, absent values
 * are null.
 */
class DurableInboxMessage {
  declare [PrimaryKeyProp]?: ['messageId', 'consumer'];

  /** First part of the key: the sender's id of the message. */
  messageId!: string;
  /** Second part of the key: who consumes it here. */
  consumer!: string;

  /** Name of the message's contract. */
  name!: string;
  /** Version of that contract. */
  version!: string;
  /** Lower-case hex SHA-256 of the content; another content under the same id is refused. */
  contentHash!: string;

  /** How far the consumer is. */
  state!: InboxState;
  /** The fence: UUIDv4 of the delivery that is being processed, null otherwise. */
  token!: string | null;
  /** Until when that delivery holds the message without a renewal, in microseconds since the Unix epoch. */
  leaseUntil!: number | null;
  /** Failures recorded so far. */
  failureCount!: number;
  /** When a failed message may be tried again, in microseconds since the Unix epoch. */
  nextAttemptAt!: number | null;
  /** Text of the last error, cut at 8 KiB. */
  lastError!: string | null;
  /** When the message came first, in microseconds since the Unix epoch. */
  receivedAt!: number;
  /** When it was processed or given up, in microseconds since the Unix epoch. */
  finishedAt!: number | null;
}

export { DurableInboxMessage as InboxMessage };

export const inboxMessageSchema: EntitySchema<DurableInboxMessage> = defineEntity<DurableInboxMessage>({
  class: DurableInboxMessage,
  name: 'DurableInboxMessage',
  tableName: 'durable_inbox_message',
  readonly: true,
  hooks: { beforeDelete: [refuseRemoval] },
  properties: {
    messageId: p.string().fieldName('message_id').length(255).primary(),
    consumer: p.string().fieldName('consumer').length(255).primary(),

    name: p.string().fieldName('name').length(255),
    version: p.string().fieldName('version').length(64),
    contentHash: p.string().fieldName('content_hash').length(64),

    state: p.type(CheckedStringType).$type<InboxState>().fieldName('state').length(16),
    token: p.string().fieldName('token').length(36).nullable(),
    leaseUntil: p.bigint('number').fieldName('lease_until').nullable(),
    failureCount: p.integer().fieldName('failure_count'),
    nextAttemptAt: p.bigint('number').fieldName('next_attempt_at').nullable(),
    lastError: p.text().fieldName('last_error').nullable(),
    receivedAt: p.bigint('number').fieldName('received_at'),
    finishedAt: p.bigint('number').fieldName('finished_at').nullable(),
  },
  checks: [
    check('durable_inbox_message_state_check', isOneOf => isOneOf('state', inboxStates)),
    check(
      'durable_inbox_message_processing_check',
      "state <> 'processing' or (token is not null and lease_until is not null)",
    ),
  ],
  indexes: [
    // cleanup: what was done with, and when
    createIndex('durable_inbox_message_finished', '(state, finished_at) where finished_at is not null'),
  ],
});
