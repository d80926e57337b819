import type { NewJobRow } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import { list, prepared, sql, type Statement } from '../statement.ts';
import { insertedColumns, insertedValues } from './inserted-columns.ts';

/** One job as `insertJobs` inserts several, from plain values: PostgreSQL plans it in half the time. */
export function insertJob(t: Tables, row: NewJobRow): Statement {
  return prepared(sql`
    insert into ${t.job} (${insertedColumns})
    select ${list(insertedValues(row))}
    where not exists (select 1 from ${t.job} j where j.scope_hash = ${row.scope_hash} and j.id = ${row.id})
      ${row.unique_hash === null ? sql`` : sql`and not exists (select 1 from ${t.job} j where j.unique_hash = ${row.unique_hash})`}
    on conflict do nothing
    returning scope_hash, id
  `);
}
