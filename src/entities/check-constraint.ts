/**
 * A named CHECK. Written the way PostgreSQL writes it back, or MikroORM 6 would find a difference for ever: no `in`, no
 * `between`, no `!=`.
 */
export function check(name: string, expression: string) {
  return { name, expression };
}

export function isOneOf(column: string, values: readonly string[]): string {
  return values.map(value => `${column} = '${value}'`).join(' or ');
}
