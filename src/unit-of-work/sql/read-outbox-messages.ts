import type { EntityManager } from '@mikro-orm/core';
import type { FrozenMessage } from '../../core/message.ts';
import { OutboxMessage } from '../../entities/index.ts';
import { run } from '../run.ts';
import { tableName } from '../../entities/table-name.ts';

export type StoredMessage = Pick<FrozenMessage, 'id' | 'name' | 'version' | 'destination' | 'documentSha256'>;

/** What identifies the messages with these ids, of which there is at least one. */
export async function readOutboxMessages(em: EntityManager, ids: readonly string[]): Promise<StoredMessage[]> {
  const rows = await run(
    em,
    `select id, name, version, destination, document_sha256
    from ${tableName(em, OutboxMessage)}
    where id in (${ids.map(() => '?').join(', ')})`,
    ids,
  );

  return rows.map(row => ({
    id: row.id as string,
    name: row.name as string,
    version: row.version as string,
    destination: row.destination as string | null,
    documentSha256: row.document_sha256 as string,
  }));
}
