import type { NewJobRow } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import { prepared, sql, values, type Statement } from '../statement.ts';
import { insertedColumns, insertedValues } from './inserted-columns.ts';

/** So many rows have a prepared text of their own each. */
const maxPreparedRows = 10;

/**
 * Inserts jobs whose identities are new: there is nothing to look for first, and less than half to plan. A request that is
 * repeated is skipped all the same. In a transaction of the library's own only, which is READ COMMITTED.
 */
export function insertNewJobs(t: Tables, rows: readonly NewJobRow[]): Statement {
  const insert = sql`
    insert into ${t.job} (${insertedColumns})
    ${values(rows.map(insertedValues))}
    on conflict do nothing
    returning scope_hash, id
  `;

  return rows.length <= maxPreparedRows ? prepared(insert) : insert;
}
