import type { EntityManager } from '@mikro-orm/core';
import type { Micros } from '../../core/time.ts';
import { InboxMessage } from '../../entities/index.ts';
import type { Receipt } from '../receipt.ts';
import { run } from '../run.ts';
import { tableName } from '../../entities/table-name.ts';

/** Holds the message on; a lease that has lapsed stays lapsed, even if nobody took the message. */
export async function renewReceipt(
  em: EntityManager,
  { messageId, consumer, token }: Receipt,
  now: Micros,
  until: Micros,
): Promise<boolean> {
  const rows = await run(
    em,
    `update ${tableName(em, InboxMessage)}
    set lease_until = ?
    where message_id = ? and consumer = ?
      and token = ? and state = 'processing' and lease_until > ?
    returning message_id`,
    [until, messageId, consumer, token, now],
  );

  return rows.length === 1;
}
