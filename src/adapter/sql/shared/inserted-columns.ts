import type { NewJobRow } from '../../job-row.ts';
import { Raw, type Value } from '../statement.ts';

const columns = [
  'scope_hash', 'id', 'scope', 'name', 'version', 'payload', 'queue', 'priority', 'max_attempts', 'attempt_limit', 'initial_not_before',
  'next_run_at', 'state', 'attempt_count', 'failure_count', 'on_interrupt', 'timeout_ms', 'retry_policy', 'retry_until', 'progress',
  'unique_key', 'unique_hash', 'metadata', 'recurring_id', 'trace_parent', 'trace_state', 'revision', 'created_at',
] as const; // prettier-ignore

/** The columns of a job that is inserted from plain values; the others are null. */
export const insertedColumns = new Raw(columns.join(', '));

/** The values in the order of the columns. */
export function insertedValues(row: NewJobRow): Value[] {
  const stored = {
    ...row,
    attempt_limit: row.max_attempts,
    attempt_count: 0,
    failure_count: 0,
    progress: 0,
    revision: 1,
  };

  return columns.map(column => stored[column]);
}
