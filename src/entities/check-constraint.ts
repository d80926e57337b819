/**
 * A named CHECK. Written the way PostgreSQL writes it back, or MikroORM 6 would find a difference for ever (no `in`, no
 * `between`, no `!=`), and without commas, at which MikroORM 7 cuts the statement that SQLite gives back.
 */
export function check(name: string, expression: string) {
  return { name, expression };
}

export function isOneOf(column: string, values: readonly string[]): string {
  return values.map(value => `${column} = '${value}'`).join(' or ');
}
