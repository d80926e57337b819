import type { EntityManager } from '@mikro-orm/core';
import type { InboxMessage, OutboxMessage } from '../entities/index.ts';

/** The table's name as SQL writes it: quoted, and with the schema that this EntityManager writes to. */
export function tableName(em: EntityManager, entity: typeof InboxMessage | typeof OutboxMessage): string {
  const meta = em.getMetadata().get(entity as never);
  const platform = em.getPlatform();
  const ownSchema = meta.schema === '*' ? undefined : meta.schema;
  const hasSchemas = platform.getDefaultSchemaName() !== undefined;
  const schema = hasSchemas ? (em.schema ?? ownSchema ?? em.config.get('schema')) : undefined;

  return [schema, meta.tableName]
    .filter(part => part !== undefined && part !== '')
    .map(part => platform.quoteIdentifier(part!))
    .join('.');
}
