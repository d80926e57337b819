import type { Tables } from '../../tables.ts';
import { snapshotColumns } from '../../job-row.ts';
import { sql, values, type Statement } from '../statement.ts';

export function readJob(t: Tables, scopeHash: string, id: string): Statement {
  return sql`select ${snapshotColumns()} from ${t.job} where scope_hash = ${scopeHash} and id = ${id}`;
}

/** The holders of identities, with what a request is compared by. */
export function readByIdentity(t: Tables, keys: ReadonlyArray<readonly [scopeHash: string, id: string]>): Statement {
  return sql`
    with wanted(scope_hash, id) as (${values(keys)})
    select j.scope_hash, j.payload, ${snapshotColumns('j')}
    from wanted join ${t.job} j on j.scope_hash = wanted.scope_hash and j.id = wanted.id
  `;
}

/** The active holders of unique keys. */
export function readByUniqueHash(t: Tables, hashes: readonly string[]): Statement {
  return sql`
    with wanted(unique_hash) as (${values(hashes.map(hash => [hash]))})
    select j.unique_hash, ${snapshotColumns('j')}
    from wanted join ${t.job} j on j.unique_hash = wanted.unique_hash
  `;
}

/** All attempts of a job, in their order. */
export function readAttempts(t: Tables, scopeHash: string, id: string): Statement {
  return sql`
    select ordinal, executor_id, state, progress, progress_message, failure_reason, error, result_ref, started_at, ended_at
    from ${t.attempt}
    where scope_hash = ${scopeHash} and job_id = ${id}
    order by ordinal
  `;
}
