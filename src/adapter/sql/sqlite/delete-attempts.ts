import type { Tables } from '../../tables.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import { sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/** The attempts whose starts this transaction has just undone. */
export function deleteAttempts(t: Tables, attempts: readonly AttemptKeyRow[]): Statement {
  return sql`
    delete from ${t.attempt}
    where state = 'running' and exists (
      select 1 from ${jsonRows(attempts, ['scope_hash', 'id', 'ordinal', 'token'])} as o
      where ${t.attempt}.scope_hash = o.scope_hash and ${t.attempt}.job_id = o.id and ${t.attempt}.ordinal = o.ordinal
        and ${t.attempt}.token = o.token
    )
  `;
}
