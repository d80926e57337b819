import type { Tables } from '../../tables.ts';
import { isParent } from '../shared/is-parent.ts';
import { Raw, sql, type Statement } from '../statement.ts';

/**
 * Whether other jobs may wait for the job of a row. A child that is committed while the statement waits for a lock is not in its
 * snapshot; but then the job itself was written to since, as whoever commits a child touches what it waits for (`touchParents`).
 *
 * @param row.revision of the job as it was locked
 */
export function mayBeParent(
  t: Tables,
  row: { readonly scopeHash: string; readonly id: string; readonly revision: string },
): Statement {
  const { scopeHash, id, revision } = row;

  return sql`(
    ${isParent(t, row)} or ${new Raw(revision)} <> (
      select seen.revision from ${t.job} seen where seen.scope_hash = ${new Raw(scopeHash)} and seen.id = ${new Raw(id)}
    )
  )`;
}
