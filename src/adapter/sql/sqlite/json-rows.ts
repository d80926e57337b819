import { Raw, sql, type Statement } from '../statement.ts';

/**
 * A batch as a subquery: one row for each element of a JSON array, one column for each name. Materialized, as `json_each` writes an
 * element's text anew for everyone who asks for it: each of its columns. A column that no row has isn't asked for.
 */
export function jsonRows<R extends object>(rows: readonly R[], columns: ReadonlyArray<keyof R & string>): Statement {
  const elements = rows.map(row => columns.map(column => row[column]));
  const extracted = columns.map((column, index) => {
    const isEmpty = rows.every(row => (row[column] ?? null) === null);
    return `${isEmpty ? 'null' : `json_extract(element, '$[${index}]')`} as ${column}`;
  });

  return sql`(
    with elements(element) as materialized (select value from json_each(${JSON.stringify(elements)}))
    select ${new Raw(extracted.join(', '))} from elements
  )`;
}
