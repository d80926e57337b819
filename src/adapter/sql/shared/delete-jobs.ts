import type { Tables } from '../../tables.ts';
import { sql, values, type Statement } from '../statement.ts';

/** What the jobs that are taken back waited for. */
export function deleteDependencies(
  t: Tables,
  keys: ReadonlyArray<readonly [scopeHash: string, id: string]>,
): Statement {
  return sql`
    delete from ${t.dependency} where (scope_hash, job_id) in (${values(keys)})
  `;
}

/** Takes back jobs that this transaction has just inserted; nobody else has seen them. */
export function deleteJobs(t: Tables, keys: ReadonlyArray<readonly [scopeHash: string, id: string]>): Statement {
  return sql`
    delete from ${t.job} where (scope_hash, id) in (${values(keys)})
  `;
}
