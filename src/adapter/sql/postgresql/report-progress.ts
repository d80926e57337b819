import type { Tables } from '../../tables.ts';
import type { ProgressReportRow } from '../progress-report-row.ts';
import { sql, type Statement } from '../statement.ts';

/** Progress of a group, on job and attempt alike, where no cancel is requested and the value is not below the stored one. */
export function reportProgress(t: Tables, reports: readonly ProgressReportRow[]): Statement {
  return sql`
    with reports as materialized (
      select * from json_to_recordset(${JSON.stringify(reports)}::json) as r(
        scope_hash varchar, id varchar, ordinal integer, token varchar, new_progress integer, new_message text
      )
      limit ${reports.length}
    ),
    owned as materialized (
      select r.*
      from reports r
      join ${t.job} j on j.scope_hash = r.scope_hash and j.id = r.id and j.state = 'running' and j.attempt_token = r.token
        and j.cancel_requested_at is null and j.progress <= r.new_progress
      join ${t.attempt} a on a.scope_hash = r.scope_hash and a.job_id = r.id and a.ordinal = r.ordinal
        and a.token = r.token and a.state = 'running'
      order by j.scope_hash, j.id
      for update of j, a
    ),
    jobs as (
      update ${t.job} j
      set progress = o.new_progress, progress_message = coalesce(o.new_message, j.progress_message), revision = j.revision + 1
      from owned o
      where j.scope_hash = o.scope_hash and j.id = o.id and j.attempt_token = o.token
    ),
    attempts as (
      update ${t.attempt} a
      set progress = o.new_progress, progress_message = coalesce(o.new_message, a.progress_message)
      from owned o
      where a.scope_hash = o.scope_hash and a.job_id = o.id and a.ordinal = o.ordinal and a.token = o.token
    )
    select scope_hash, id, ordinal, token from owned
  `;
}
