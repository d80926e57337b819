/** A CHECK as MikroORM takes it, and what PostgreSQL is given in its place. */
export interface Check {
  readonly name: string;
  readonly expression: string;
  readonly onPostgreSql: string;
}

/** Writes that a column has one of the values, in the words of a database. */
export type IsOneOf = (column: string, values: readonly string[]) => string;

/**
 * A named CHECK. Written the way PostgreSQL writes it back, or MikroORM 6 would find a difference for ever (no `in`, no
 * `between`, no `!=`), and without commas, at which MikroORM 7 cuts the statement that SQLite gives back.
 */
export function check(name: string, expression: string | ((isOneOf: IsOneOf) => string)): Check {
  const inWordsOf = (isOneOf: IsOneOf) => (typeof expression === 'string' ? expression : expression(isOneOf));

  return { name, expression: inWordsOf(oneByOne), onPostgreSql: inWordsOf(inOneArray) };
}

const oneByOne: IsOneOf = (column, values) => values.map(value => `${column} = '${value}'`).join(' or ');

/**
 * PostgreSQL parses its CHECKs again for each statement that writes: as a list of comparisons they were a quarter of a claim of one
 * job. `is true` keeps MikroORM 6 from taking the column for an enum.
 */
const inOneArray: IsOneOf = (column, values) => `((${column})::text = any ('{${values.join(',')}}'::text[])) is true`;
