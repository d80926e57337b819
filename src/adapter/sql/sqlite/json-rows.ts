import { Raw, sql, type Statement } from '../statement.ts';

/** A batch as a subquery: one row for each element of a JSON array, one column for each name. */
export function jsonRows<R extends object>(rows: readonly R[], columns: ReadonlyArray<keyof R & string>): Statement {
  const extracted = columns.map(column => `json_extract(value, '$.${column}') as ${column}`).join(', ');
  return sql`(select ${new Raw(extracted)} from json_each(${JSON.stringify(rows)}))`;
}
