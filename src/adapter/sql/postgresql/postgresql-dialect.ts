import { attemptKey } from '../../job-row.ts';
import type { AttemptRow, EndedRow, JobKeyRow, MovedRow, ResolvedRow, SqlDialect } from '../dialect.ts';
import { insertJob } from '../shared/insert-job.ts';
import { progressReportRow } from '../progress-report-row.ts';
import { settlementRow } from '../settlement-row.ts';
import { sql } from '../statement.ts';
import { claimJobs } from './claim-jobs.ts';
import { deleteFinishedJobs } from './delete-finished-jobs.ts';
import { insertJobs } from './insert-jobs.ts';
import { lockQueues } from './lock-queues.ts';
import { recoverAttempts } from './recover-attempts.ts';
import { releaseAttempts } from './release-attempts.ts';
import { reportProgress } from './report-progress.ts';
import { resolveJobs } from './resolve-jobs.ts';
import { settleAttempt } from './settle-attempt.ts';
import { settleAttempts } from './settle-attempts.ts';
import { startJob } from './start-job.ts';
import { touchParents } from './touch-parents.ts';

/** PostgreSQL: every move is one statement, so it is atomic without a transaction around it. */
export const postgresqlDialect: SqlDialect = {
  name: 'postgresql',
  hasNotifications: true,
  hasIsolationLevels: true,
  hasOneWriter: false,

  // A host may have made another level its default; there a lone update would fail where it should wait and look again.
  setup: async run => {
    const [row] = await run(sql`select current_setting('transaction_isolation') as level`);
    return { needsTransaction: row?.level !== 'read committed', hasWaitingCommit: false, hasWaitingRead: false };
  },

  transaction: (run, work) => work(run),

  insertJobs: async (run, tables, rows) => {
    const [only] = rows;
    return (await run(rows.length === 1 ? insertJob(tables, only!) : insertJobs(tables, rows))) as JobKeyRow[];
  },
  resolveJobs: async (run, tables, candidates, now) =>
    (await run(resolveJobs(tables, candidates, now))) as ResolvedRow[],
  touchParents: async (run, tables, children) => void (await run(touchParents(tables, children))),
  lockQueues: (run, tables, names) => run(lockQueues(tables, names)),
  claimJobs: ({ write, tables }, claim) => write(claimJobs(tables, claim)),
  startJob: async ({ write, tables }, start) => (await write(startJob(tables, start)))[0],

  progress: async ({ write, tables }, reports) => {
    return (await write(reportProgress(tables, reports.map(progressReportRow)))) as AttemptRow[];
  },
  settle: async ({ write, tables }, settlements, now) => {
    const rows = settlements.map(settlementRow);
    const statement = rows.length === 1 ? settleAttempt(tables, rows[0]!, now) : settleAttempts(tables, rows, now);

    return (await write(statement)) as EndedRow[];
  },
  release: async ({ write, tables }, attempts, now) => {
    return (await write(releaseAttempts(tables, attempts.map(attemptKey), now))) as EndedRow[];
  },
  recover: async ({ write, tables }, attempts, how, now) => {
    return (await write(recoverAttempts(tables, attempts.map(attemptKey), how, now))) as EndedRow[];
  },
  deleteFinished: async ({ write, tables }, doomed) => (await write(deleteFinishedJobs(tables, doomed))) as MovedRow[],
};
