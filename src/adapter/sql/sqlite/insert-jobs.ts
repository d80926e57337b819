import type { NewJobRow } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/** Inserts a whole batch, skipping identities and unique keys that are taken. */
export function insertJobs(t: Tables, rows: readonly NewJobRow[]): Statement {
  return sql`
    insert into ${t.job} (
      scope_hash, id, scope, name, version, payload, queue, priority, max_attempts, attempt_limit, initial_not_before,
      next_run_at, state, attempt_count, failure_count, on_interrupt, timeout_ms, retry_policy, retry_until, progress,
      unique_key, unique_hash, metadata, recurring_id, trace_parent, trace_state, revision, created_at
    )
    select
      x.scope_hash, x.id, x.scope, x.name, x.version, x.payload, x.queue, x.priority, x.max_attempts, x.max_attempts,
      x.initial_not_before, x.next_run_at, x.state, 0, 0, x.on_interrupt, x.timeout_ms, x.retry_policy, x.retry_until, 0,
      x.unique_key, x.unique_hash, x.metadata, x.recurring_id, x.trace_parent, x.trace_state, 1, x.created_at
    from ${jsonRows(rows, [
      'scope_hash',
      'id',
      'scope',
      'name',
      'version',
      'payload',
      'queue',
      'priority',
      'max_attempts',
      'initial_not_before',
      'next_run_at',
      'state',
      'on_interrupt',
      'timeout_ms',
      'retry_policy',
      'retry_until',
      'unique_key',
      'unique_hash',
      'metadata',
      'recurring_id',
      'trace_parent',
      'trace_state',
      'created_at',
    ])} as x
    where not exists (select 1 from ${t.job} j where j.scope_hash = x.scope_hash and j.id = x.id)
      and not exists (select 1 from ${t.job} j where j.unique_hash = x.unique_hash)
    on conflict do nothing
    returning scope_hash, id
  `;
}
