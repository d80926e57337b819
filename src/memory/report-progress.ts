import type { ProgressReport } from '../core/store.ts';
import { attemptKeyOf } from './keys.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { ownedAttempt } from './owned-attempt.ts';

/** On job and attempt alike. @returns whether it was written */
export function reportProgress(database: MemoryDatabase, report: ProgressReport): boolean {
  const owned = ownedAttempt(database, report);
  if (owned === null || owned.job.cancelRequestedAt !== null || owned.job.progress > report.value) {
    return false;
  }

  const { job, attempt } = owned;
  const { value: progress, message } = report;

  database.jobs.update(job, { progress, progressMessage: message ?? job.progressMessage });
  database.attempts.put(attemptKeyOf(attempt), {
    ...attempt,
    progress,
    progressMessage: message ?? attempt.progressMessage,
  });
  return true;
}
