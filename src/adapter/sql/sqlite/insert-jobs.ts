import type { NewJobRow } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import { insertedColumns, insertedNames } from '../shared/inserted-columns.ts';
import { prepared, sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/** Inserts a whole batch, skipping identities and unique keys that are taken. */
export function insertJobs(t: Tables, rows: readonly NewJobRow[]): Statement {
  return prepared(sql`
    insert into ${t.job} (${insertedColumns})
    select ${insertedColumns}
    from ${jsonRows(rows, insertedNames)} as x
    where not exists (select 1 from ${t.job} j where j.scope_hash = x.scope_hash and j.id = x.id)
      and not exists (select 1 from ${t.job} j where j.unique_hash = x.unique_hash)
    on conflict do nothing
    returning scope_hash, id
  `);
}
