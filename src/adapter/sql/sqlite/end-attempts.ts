import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { isParent } from '../shared/is-parent.ts';
import { prepared, sql, type Statement } from '../statement.ts';
import { jsonRows } from './json-rows.ts';

/** How an attempt ends, once its job's update has said what became of the job. */
export interface AttemptEnd {
  readonly scope_hash: string;
  readonly id: string;
  readonly ordinal: number;
  readonly token: string;
  readonly new_state: string;
  readonly new_progress?: number;
  readonly new_message?: string;
  readonly new_result_ref?: string;
  readonly new_reason?: string;
  readonly new_error?: string;
}

/** The attempts of the jobs whose run this transaction has just ended; answers them. */
export function endAttempts(t: Tables, ends: readonly AttemptEnd[], now: Micros): Statement {
  return prepared(sql`
    update ${t.attempt}
    set state = o.new_state,
        progress = max(progress, coalesce(o.new_progress, 0)),
        progress_message = coalesce(o.new_message, progress_message),
        failure_reason = o.new_reason,
        error = o.new_error,
        result_ref = o.new_result_ref,
        ended_at = ${now}
    from (
      select r.scope_hash as o_scope_hash, r.id as o_id, r.ordinal as o_ordinal, r.token as o_token, r.new_state, r.new_progress,
             r.new_message, r.new_result_ref, r.new_reason, r.new_error
      from ${jsonRows(ends, [
        'scope_hash',
        'id',
        'ordinal',
        'token',
        'new_state',
        'new_progress',
        'new_message',
        'new_result_ref',
        'new_reason',
        'new_error',
      ])} as r
    ) as o
    where scope_hash = o.o_scope_hash and job_id = o.o_id and ordinal = o.o_ordinal and token = o.o_token and state = 'running'
    returning scope_hash, job_id as id, ordinal, token, ${isParent(t, { scopeHash: `${t.attempt.sql}.scope_hash`, id: `${t.attempt.sql}.job_id` })} as is_parent
  `);
}
