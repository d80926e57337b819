import type { AttemptRef, Progress } from '../../core/attempt.ts';
import { attemptKey } from '../job-row.ts';
import type { AttemptKeyRow } from './attempt-key-row.ts';

export interface ProgressReportRow extends AttemptKeyRow {
  readonly new_progress: number;
  readonly new_message: string | null;
}

export function progressReportRow(report: AttemptRef & Progress): ProgressReportRow {
  return { ...attemptKey(report), new_progress: report.value, new_message: report.message };
}
