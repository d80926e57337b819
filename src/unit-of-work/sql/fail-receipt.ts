import type { EntityManager } from '@mikro-orm/core';
import type { Micros } from '../../core/time.ts';
import { InboxMessage } from '../../entities/index.ts';
import type { Receipt } from '../receipt.ts';
import { run } from '../run.ts';
import { tableName } from '../../entities/table-name.ts';

/** Counts a failure. With a next attempt the message is `failed` until then, without one it is dead-lettered. */
export async function failReceipt(
  em: EntityManager,
  { messageId, consumer, token }: Receipt,
  failure: { readonly error: string; readonly nextAttemptAt: Micros | null; readonly now: Micros },
): Promise<boolean> {
  const { error, nextAttemptAt, now } = failure;
  const isDead = nextAttemptAt === null;
  const rows = await run(
    em,
    `update ${tableName(em, InboxMessage)}
    set state = ?, token = null, lease_until = null,
      failure_count = failure_count + 1, last_error = ?, next_attempt_at = ?, finished_at = ?
    where message_id = ? and consumer = ?
      and token = ? and state = 'processing' and lease_until > ?
    returning message_id`,
    [isDead ? 'dead_lettered' : 'failed', error, nextAttemptAt, isDead ? now : null, messageId, consumer, token, now],
  );

  return rows.length === 1;
}
