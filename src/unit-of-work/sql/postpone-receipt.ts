import type { EntityManager } from '@mikro-orm/core';
import type { Micros } from '../../core/time.ts';
import { InboxMessage } from '../../entities/index.ts';
import type { Receipt } from '../receipt.ts';
import { run } from '../run.ts';
import { tableName } from '../../entities/table-name.ts';

/** Lets go of the message without a failure: it waits as a failed one does, until `nextAttemptAt`, with its count as it was. */
export async function postponeReceipt(
  em: EntityManager,
  { messageId, consumer, token }: Receipt,
  nextAttemptAt: Micros,
  now: Micros,
): Promise<boolean> {
  const rows = await run(
    em,
    `update ${tableName(em, InboxMessage)}
    set state = 'failed', token = null, lease_until = null, next_attempt_at = ?
    where message_id = ? and consumer = ?
      and token = ? and state = 'processing' and lease_until > ?
    returning message_id`,
    [nextAttemptAt, messageId, consumer, token, now],
  );

  return rows.length === 1;
}
