import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { prepared, sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

export interface StartedRow {
  readonly scope_hash: string;
  readonly id: string;
  readonly attempt_count: number;
  readonly attempt_token: string;
}

/** The attempts of the jobs that this transaction has just started. */
export function insertAttempts(t: Tables, started: readonly StartedRow[], executorId: string, now: Micros): Statement {
  return prepared(sql`
    insert into ${t.attempt} (scope_hash, job_id, ordinal, token, executor_id, state, progress, started_at)
    select scope_hash, id, attempt_count, attempt_token, ${executorId}, 'running', 0, ${now}
    from ${jsonRows(started, ['scope_hash', 'id', 'attempt_count', 'attempt_token'])} as started
    where true
  `);
}
