/** MikroORM 7 finds the CHECKs of a SQLite table in its statement's text, which it cuts at `, constraint ` and at `, `. */
export function oneLine(statement: string): string {
  return statement.replaceAll(/\s+/g, ' ');
}
