import type { NewJobRow } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';

/**
 * Inserts a whole batch, skipping identities and unique keys that are taken. `not exists` spares a REPEATABLE READ host the
 * serialization error that `on conflict` raises even for a row it can see; the order keeps two batches from deadlocking
 * (measured: 206 to 233 deadlocks in 400 rounds without it). The limit is the planner's: without it, it expects a hundred rows
 * and reads a table of some ten thousand jobs whole for a single one.
 */
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
    from (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as x(
        scope_hash varchar, id varchar, scope text, name varchar, version varchar, payload text, queue varchar,
        priority integer, max_attempts integer, initial_not_before bigint, next_run_at bigint, state varchar,
        on_interrupt varchar, timeout_ms integer, retry_policy text, retry_until bigint, unique_key varchar,
        unique_hash varchar, metadata text, recurring_id varchar, trace_parent varchar,
        trace_state varchar, created_at bigint
      )
      limit ${rows.length}
    ) as x
    where not exists (select 1 from ${t.job} j where j.scope_hash = x.scope_hash and j.id = x.id)
      and not exists (select 1 from ${t.job} j where j.unique_hash = x.unique_hash)
    order by x.unique_hash nulls first, x.scope_hash, x.id collate "C"
    on conflict do nothing
    returning scope_hash, id
  `;
}
