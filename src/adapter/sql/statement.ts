/** What a statement may carry as a value. Never undefined: PostgreSQL under MikroORM 7 refuses it. */
export type Value = string | number | boolean | null;

/** SQL with a `?` for each value, as `em.execute` takes it on every driver. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly Value[];
  /** Whether the database should keep its plan: it is sent over and over, in one of few texts. */
  readonly isPrepared?: boolean;
}

/** A quoted name, or another piece of SQL of ours, put into a statement as it is. */
export class Raw {
  readonly sql: string;

  constructor(sql: string) {
    this.sql = sql;
  }
}

/** A statement, readable whole: names and pieces (`Raw`, other statements) are put in, everything else becomes a value. */
export function sql(strings: TemplateStringsArray, ...parts: ReadonlyArray<Value | Raw | Statement>): Statement {
  const params: Value[] = [];

  const text = strings.reduce((before, string, index) => {
    const part = parts[index - 1]!;

    if (part instanceof Raw) {
      return before + part.sql + string;
    }
    if (part !== null && typeof part === 'object') {
      params.push(...part.params);
      return before + part.sql + string;
    }

    params.push(part);
    return `${before}?${string}`;
  });

  return { sql: text, params };
}

/** A statement whose plan is worth keeping, as a whole; as a piece of another one it says nothing. */
export function prepared({ sql, params }: Statement): Statement {
  return { sql, params, isPrepared: true };
}

/** `…, …`: values, of which there is at least one. */
export function list(items: readonly Value[]): Statement {
  return { sql: items.map(() => '?').join(', '), params: items };
}

/** `values (…), (…)`: a batch of rows, of which there is at least one. */
export function values(rows: ReadonlyArray<readonly Value[]>): Statement {
  const row = `(${rows[0]!.map(() => '?').join(', ')})`;
  return { sql: `values ${rows.map(() => row).join(', ')}`, params: rows.flat() };
}
