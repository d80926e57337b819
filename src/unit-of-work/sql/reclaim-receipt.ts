import type { EntityManager } from '@mikro-orm/core';
import type { Delivery } from '../../core/message.ts';
import type { Micros } from '../../core/time.ts';
import { InboxMessage } from '../../entities/index.ts';
import { run } from '../run.ts';
import { tableName } from '../../entities/table-name.ts';

/** Takes over a message whose delivery is gone, or whose next try is due. Answers the failures so far, or null: not taken. */
export async function reclaimReceipt(
  em: EntityManager,
  { messageId, consumer, name, version, contentHash }: Delivery,
  lease: { readonly token: string; readonly now: Micros; readonly until: Micros },
): Promise<number | null> {
  const rows = await run(
    em,
    `update ${tableName(em, InboxMessage)}
    set state = 'processing', token = ?, lease_until = ?, next_attempt_at = null
    where message_id = ? and consumer = ?
      and name = ? and version = ? and content_hash = ?
      and ((state = 'processing' and lease_until <= ?) or (state = 'failed' and next_attempt_at <= ?))
    returning failure_count`,
    [lease.token, lease.until, messageId, consumer, name, version, contentHash, lease.now, lease.now],
  );

  return rows.length === 1 ? Number(rows[0]!.failure_count) : null;
}
