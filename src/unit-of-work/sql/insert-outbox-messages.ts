import type { EntityManager } from '@mikro-orm/core';
import { OutboxMessage } from '../../entities/index.ts';
import type { PendingMessage } from '../pending-messages.ts';
import { run, type Value } from '../run.ts';
import { tableName } from '../../entities/table-name.ts';

/**
 * Writes what isn't there, `pending` and due at once. Answers the ids that it wrote; a taken id fails no statement, which
 * on PostgreSQL would be the end of the transaction.
 */
export async function insertOutboxMessages(
  em: EntityManager,
  messages: readonly PendingMessage[],
): Promise<ReadonlySet<string>> {
  const row = `(?, ?, ?, ?, ?, ?, 'pending', 0, 0, 0, ?, ?, ?, ?, ?, ?)`;
  const rows = await run(
    em,
    `insert into ${tableName(em, OutboxMessage)}
      (id, destination, name, version, document, document_sha256,
       state, lease_epoch, send_count, failure_count,
       next_send_at, send_deadline, correlation_id, trace_parent, trace_state, created_at)
    values ${messages.map(() => row).join(', ')}
    on conflict do nothing
    returning id`,
    messages.flatMap(valuesOf),
  );

  return new Set(rows.map(({ id }) => id as string));
}

function valuesOf(message: PendingMessage): Value[] {
  return [
    message.id,
    message.destination,
    message.name,
    message.version,
    message.document,
    message.documentSha256,
    message.createdAt,
    message.sendDeadline,
    message.correlationId,
    message.traceParent,
    message.traceState,
    message.createdAt,
  ];
}
