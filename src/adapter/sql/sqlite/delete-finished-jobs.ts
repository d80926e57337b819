import type { Tables } from '../../tables.ts';
import type { Doomed, MovedRow } from '../dialect.ts';
import { doomedJobs } from '../shared/doomed-jobs.ts';
import { sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/**
 * Deletes finished jobs, first statement: it writes, so nobody retries one of them meanwhile. MikroORM 6 gives the rows of no
 * statement that begins with `delete`.
 */
export function deleteFinishedJobs(t: Tables, doomed: Doomed): Statement {
  return sql`
    with doomed as (${doomedJobs(t, doomed)})
    delete from ${t.job}
    where (scope_hash, id) in (select scope_hash, id from doomed)
    returning scope_hash, id, state
  `;
}

/** Second: their attempts. */
export function deleteAttemptsOf(t: Tables, jobs: readonly MovedRow[]): Statement {
  return sql`delete from ${t.attempt} where (scope_hash, job_id) in (${keysOf(jobs)})`;
}

/** Third: what they waited for. */
export function deleteWaitsOf(t: Tables, jobs: readonly MovedRow[]): Statement {
  return sql`delete from ${t.dependency} where (scope_hash, job_id) in (${keysOf(jobs)})`;
}

/** Fourth: the children of those that succeeded have nothing left to wait for; those of the others find them gone. */
export function deleteWaitsFor(t: Tables, jobs: readonly MovedRow[]): Statement {
  return sql`delete from ${t.dependency} where (scope_hash, parent_id) in (${keysOf(jobs)})`;
}

function keysOf(jobs: readonly MovedRow[]): Statement {
  return sql`select scope_hash, id from ${jsonRows(jobs, ['scope_hash', 'id'])}`;
}
