import type { EntityManager } from '@mikro-orm/core';

/** What the platforms of SQL drivers have beside core's. */
interface SqlPlatform {
  supportsSchemas?(): boolean;
}

/** A table's name as SQL writes it: quoted, and with the schema that this EntityManager writes to. */
export function tableName(em: EntityManager, entity: abstract new () => object): string {
  const meta = em.getMetadata().get(entity as never);
  const platform = em.getPlatform();
  const ownSchema = meta.schema === '*' ? undefined : meta.schema;
  const schema = (platform as SqlPlatform).supportsSchemas?.()
    ? (em.schema ?? ownSchema ?? em.config.get('schema'))
    : undefined;

  return [schema, meta.tableName]
    .filter(part => part !== undefined && part !== '')
    .map(part => platform.quoteIdentifier(part!))
    .join('.');
}
