import type { EntityManager } from '@mikro-orm/core';
import type { Delivery } from '../../core/message.ts';
import type { Micros } from '../../core/time.ts';
import { InboxMessage, type InboxState } from '../../entities/index.ts';
import { run } from '../run.ts';
import { tableName } from '../../entities/table-name.ts';

export interface StoredReceipt extends Pick<Delivery, 'name' | 'version' | 'contentHash'> {
  readonly state: InboxState;
  readonly leaseUntil: Micros | null;
  readonly nextAttemptAt: Micros | null;
}

export async function readReceipt(
  em: EntityManager,
  { messageId, consumer }: Pick<Delivery, 'messageId' | 'consumer'>,
): Promise<StoredReceipt | null> {
  const [row] = await run(
    em,
    `select name, version, content_hash, state, lease_until, next_attempt_at
    from ${tableName(em, InboxMessage)}
    where message_id = ? and consumer = ?`,
    [messageId, consumer],
  );

  return row === undefined
    ? null
    : {
        name: row.name as string,
        version: row.version as string,
        contentHash: row.content_hash as string,
        state: row.state as InboxState,
        leaseUntil: instantOf(row.lease_until),
        nextAttemptAt: instantOf(row.next_attempt_at),
      };
}

/** PostgreSQL's driver gives a bigint as text. */
function instantOf(value: unknown): Micros | null {
  return value === null ? null : Number(value);
}
