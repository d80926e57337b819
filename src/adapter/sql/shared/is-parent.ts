import type { Tables } from '../../tables.ts';
import { Raw, sql, type Statement } from '../statement.ts';

/**
 * Whether other jobs wait for the job of a row; served by `durable_job_dependency_resolve`. Spares most settlements the statement
 * that looks after children.
 */
export function isParent(t: Tables, row: { readonly scopeHash: string; readonly id: string }): Statement {
  return sql`exists (
    select 1 from ${t.dependency} d where d.scope_hash = ${new Raw(row.scopeHash)} and d.parent_id = ${new Raw(row.id)}
  )`;
}
