import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';
import type { ProgressReportRow } from '../progress-report-row.ts';

const columns = ['scope_hash', 'id', 'ordinal', 'token', 'new_progress', 'new_message'] as const;

/** Progress, first statement: locks the file by writing, and writes the jobs whose report is not below what is stored. */
export function reportJobProgress(t: Tables, reports: readonly ProgressReportRow[]): Statement {
  return sql`
    update ${t.job}
    set progress = o.new_progress, progress_message = coalesce(o.new_message, progress_message), revision = revision + 1
    from (
      select r.scope_hash as o_scope_hash, r.id as o_id, r.ordinal as o_ordinal, r.token as o_token, r.new_progress, r.new_message
      from ${jsonRows(reports, columns)} as r
    ) as o
    where scope_hash = o.o_scope_hash and id = o.o_id and state = 'running' and attempt_token = o.o_token
      and cancel_requested_at is null and progress <= o.new_progress
      and exists (
        select 1 from ${t.attempt} a
        where a.scope_hash = o.o_scope_hash and a.job_id = o.o_id and a.ordinal = o.o_ordinal and a.token = o.o_token
          and a.state = 'running'
      )
    returning scope_hash, id, attempt_count as ordinal, attempt_token as token
  `;
}

/** Progress, second statement: the attempts of the jobs that the first one wrote. */
export function reportAttemptProgress(t: Tables, reports: readonly ProgressReportRow[]): Statement {
  return sql`
    update ${t.attempt}
    set progress = o.new_progress, progress_message = coalesce(o.new_message, progress_message)
    from (
      select r.scope_hash as o_scope_hash, r.id as o_id, r.ordinal as o_ordinal, r.token as o_token, r.new_progress, r.new_message
      from ${jsonRows(reports, columns)} as r
    ) as o
    where scope_hash = o.o_scope_hash and job_id = o.o_id and ordinal = o.o_ordinal and token = o.o_token and state = 'running'
  `;
}
