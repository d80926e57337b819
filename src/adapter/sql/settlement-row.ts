import type { Settlement } from '../../core/attempt.ts';
import { attemptKey } from '../job-row.ts';
import type { SettlementRow } from './dialect.ts';

export function settlementRow(settlement: Settlement): SettlementRow {
  return {
    ...attemptKey(settlement),
    outcome: settlement.outcome,
    new_progress: settlement.progress?.value,
    new_message: settlement.progress?.message ?? undefined,
    new_result_ref: settlement.outcome === 'succeeded' ? (settlement.resultRef ?? undefined) : undefined,
    new_reason: 'failureReason' in settlement ? settlement.failureReason : undefined,
    new_error: 'error' in settlement ? (settlement.error ?? undefined) : undefined,
    new_next_run_at: 'nextRunAt' in settlement ? settlement.nextRunAt : undefined,
  };
}
