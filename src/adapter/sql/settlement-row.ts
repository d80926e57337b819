import type { Settlement } from '../../core/attempt.ts';
import { attemptKey } from '../job-row.ts';
import type { SettlementRow } from './dialect.ts';

export function settlementRow(settlement: Settlement): SettlementRow {
  return {
    ...attemptKey(settlement),
    outcome: settlement.outcome,
    new_progress: settlement.progress?.value ?? null,
    new_message: settlement.progress?.message ?? null,
    new_result_ref: settlement.outcome === 'succeeded' ? settlement.resultRef : null,
    new_reason: 'failureReason' in settlement ? settlement.failureReason : null,
    new_error: 'error' in settlement ? settlement.error : null,
    new_next_run_at: 'nextRunAt' in settlement ? settlement.nextRunAt : null,
  };
}
