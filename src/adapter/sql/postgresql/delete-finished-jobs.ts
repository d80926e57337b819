import type { Tables } from '../../tables.ts';
import type { Doomed } from '../dialect.ts';
import { doomedJobs } from '../shared/doomed-jobs.ts';
import { sql, type Statement } from '../statement.ts';

/**
 * Deletes finished jobs with their attempts and with what they waited for. A job is judged again when it is locked, and one that
 * somebody else holds is left for the next time, so nothing that is being retried is deleted and nobody is waited for. The
 * children of one that succeeded have nothing left to wait for; those of the others find it gone.
 */
export function deleteFinishedJobs(t: Tables, doomed: Doomed): Statement {
  return sql`
    with doomed as materialized (
      ${doomedJobs(t, doomed)}
      for update of j skip locked
    ),
    waits as materialized (
      select d.scope_hash, d.job_id, d.parent_id
      from doomed x join ${t.dependency} d on d.scope_hash = x.scope_hash and d.job_id = x.id
      union
      select d.scope_hash, d.job_id, d.parent_id
      from doomed x join ${t.dependency} d on d.scope_hash = x.scope_hash and d.parent_id = x.id
      where x.state = 'succeeded'
    ),
    dependencies as (
      delete from ${t.dependency} d using waits w
      where d.scope_hash = w.scope_hash and d.job_id = w.job_id and d.parent_id = w.parent_id
    ),
    attempts as (
      delete from ${t.attempt} a using doomed x where a.scope_hash = x.scope_hash and a.job_id = x.id
    )
    delete from ${t.job} j using doomed x
    where j.scope_hash = x.scope_hash and j.id = x.id
    returning j.scope_hash, j.id, j.state
  `;
}
