/** MikroORM 6 hands the table first and the columns second, 7 the other way round. */
interface SchemaTable {
  readonly name: string;
  readonly schema?: string;
}

/**
 * An index as a whole statement: MikroORM 6 has no other way to a partial or descending one. Both majors compare such an
 * index by its name only, so a changed index needs a new name.
 */
export function createIndex(name: string, definition: string) {
  return { name, expression: statement('index', name, definition) };
}

export function createUniqueIndex(name: string, definition: string) {
  return { name, expression: statement('unique index', name, definition) };
}

function statement(kind: string, name: string, definition: string) {
  return (first: unknown, second: unknown): string => {
    const table = (isTable(second) ? second : first) as SchemaTable;
    return `create ${kind} "${name}" on ${qualified(table)} ${definition}`;
  };
}

function isTable(value: unknown): boolean {
  return 'qualifiedName' in (value as object);
}

function qualified({ schema, name }: SchemaTable): string {
  return schema && schema !== 'public' ? `"${schema}"."${name}"` : `"${name}"`;
}
