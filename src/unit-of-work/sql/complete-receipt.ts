import type { EntityManager } from '@mikro-orm/core';
import type { Micros } from '../../core/time.ts';
import { InboxMessage } from '../../entities/index.ts';
import type { Receipt } from '../receipt.ts';
import { run } from '../run.ts';
import { tableName } from '../../entities/table-name.ts';

/** The message is done with: part of the transaction that holds what was done. False: this delivery may not commit. */
export async function completeReceipt(
  em: EntityManager,
  { messageId, consumer, token }: Receipt,
  now: Micros,
): Promise<boolean> {
  const rows = await run(
    em,
    `update ${tableName(em, InboxMessage)}
    set state = 'processed', token = null, lease_until = null, finished_at = ?
    where message_id = ? and consumer = ?
      and token = ? and state = 'processing' and lease_until > ?
    returning message_id`,
    [now, messageId, consumer, token, now],
  );

  return rows.length === 1;
}
