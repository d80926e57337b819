import type { EntityManager } from '@mikro-orm/core';
import type { Delivery } from '../../core/message.ts';
import type { Micros } from '../../core/time.ts';
import { InboxMessage } from '../../entities/index.ts';
import { run } from '../run.ts';
import { tableName } from '../../entities/table-name.ts';

/** A message that comes for the first time; of two that come together, one gets the row and the other waits and gets none. */
export async function insertReceipt(
  em: EntityManager,
  { messageId, consumer, name, version, contentHash }: Delivery,
  lease: { readonly token: string; readonly now: Micros; readonly until: Micros },
): Promise<boolean> {
  const rows = await run(
    em,
    `insert into ${tableName(em, InboxMessage)}
      (message_id, consumer, name, version, content_hash, state, token, lease_until, failure_count, received_at)
    values (?, ?, ?, ?, ?, 'processing', ?, ?, 0, ?)
    on conflict do nothing
    returning message_id`,
    [messageId, consumer, name, version, contentHash, lease.token, lease.until, lease.now],
  );

  return rows.length === 1;
}
