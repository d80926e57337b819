import type { NewJobRow } from '../../job-row.ts';
import { Raw, type Value } from '../statement.ts';

/** The columns of a job as it is inserted; the others are null. */
export const insertedNames = [
  'scope_hash', 'id', 'scope', 'name', 'version', 'payload', 'queue', 'priority', 'max_attempts', 'attempt_limit', 'initial_not_before',
  'next_run_at', 'state', 'attempt_count', 'failure_count', 'on_interrupt', 'timeout_ms', 'retry_policy', 'retry_until', 'progress',
  'unique_key', 'unique_hash', 'metadata', 'recurring_id', 'trace_parent', 'trace_state', 'revision', 'created_at',
] as const satisfies ReadonlyArray<keyof NewJobRow>; // prettier-ignore

export const insertedColumns = new Raw(insertedNames.join(', '));

/** The values in the order of the columns. */
export function insertedValues(row: NewJobRow): Value[] {
  return insertedNames.map(name => row[name]);
}
