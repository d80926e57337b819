import type { Micros } from '../../../core/time.ts';
import { attemptKey, rowKey } from '../../job-row.ts';
import type { Row, Session } from '../../session.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import type { EndedRow, JobKeyRow, SqlDialect } from '../dialect.ts';
import { progressReportRow } from '../progress-report-row.ts';
import { settlementRow } from '../settlement-row.ts';
import type { Statement } from '../statement.ts';
import { claimJobs } from './claim-jobs.ts';
import { deleteAttempts } from './delete-attempts.ts';
import { endAttempts, type AttemptEnd } from './end-attempts.ts';
import { insertAttempts, type StartedRow } from './insert-attempts.ts';
import { insertJobs } from './insert-jobs.ts';
import { lockQueues } from './lock-queues.ts';
import { recoverJobs } from './recover-jobs.ts';
import { releaseJobs } from './release-jobs.ts';
import { reportAttemptProgress, reportJobProgress } from './report-progress.ts';
import { resolveJobs } from './resolve-jobs.ts';
import { settleJobs } from './settle-jobs.ts';
import { startJob } from './start-job.ts';
import { withShortBusyTimeout } from './with-short-busy-timeout.ts';

/** SQLite: an update can't carry a second one, so a move is two statements in one transaction whose first one writes. */
export const sqliteDialect: SqlDialect = {
  name: 'sqlite',
  hasNotifications: false,
  hasIsolationLevels: false,
  needsTransaction: () => Promise.resolve(true),
  transaction: withShortBusyTimeout,

  insertJobs: async (run, tables, rows) => (await run(insertJobs(tables, rows))) as JobKeyRow[],

  resolveJobs: async (run, tables, candidates, now) => (await run(resolveJobs(tables, candidates, now))) as EndedRow[],
  lockQueues: (run, tables, names) => run(lockQueues(tables, names)),
  claimJobs: (session, claim) => start(session, claimJobs(session.tables, claim), claim.executorId, claim.now),
  startJob: async (session, one) => (await start(session, startJob(session.tables, one), one.executorId, one.now))[0],

  progress: ({ atomically, tables }, reports) => {
    const rows = reports.map(progressReportRow);

    return atomically(async run => {
      const written = new Map(
        ((await run(reportJobProgress(tables, rows))) as JobKeyRow[]).map(row => [rowKey(row), row]),
      );
      const theirs = rows.filter(row => written.has(rowKey(row)));
      if (theirs.length > 0) {
        await run(reportAttemptProgress(tables, theirs));
      }

      return [...written.values()];
    });
  },

  settle: (session, settlements, now) => {
    const rows = settlements.map(settlementRow);

    return end(session, settleJobs(session.tables, rows, now), rows, now, ({ state, asked }) => ({
      ...asked,
      new_state: state === 'cancelled' ? 'cancelled' : asked.outcome === 'rescheduled' ? 'failed' : asked.outcome,
      new_result_ref: state === 'succeeded' ? asked.new_result_ref : null,
      new_reason: state === 'cancelled' ? 'cancel_requested' : asked.new_reason,
    }));
  },

  recover: (session, attempts, how, now) => {
    const rows = attempts.map(attemptKey);

    return end(session, recoverJobs(session.tables, rows, how, now), rows, now, ({ state, asked }) => ({
      ...asked,
      ...nothingReported,
      new_state: state === 'cancelled' ? 'cancelled' : 'interrupted',
      new_reason: state === 'cancelled' ? 'cancel_requested' : how.reason,
    }));
  },

  release: ({ atomically, tables }, attempts, now) => {
    const rows = attempts.map(attemptKey);

    return atomically(async run => {
      const released = (await run(releaseJobs(tables, rows, now))) as EndedRow[];
      const stateOf = new Map(released.map(row => [rowKey(row), row.state]));
      const undone = rows.filter(row => stateOf.get(rowKey(row)) === 'queued');
      const cancelled = rows.filter(row => stateOf.get(rowKey(row)) === 'cancelled');

      if (undone.length > 0) {
        await run(deleteAttempts(tables, undone));
      }
      if (cancelled.length > 0) {
        const ends = cancelled.map(row => ({
          ...row,
          ...nothingReported,
          new_state: 'cancelled',
          new_reason: 'cancel_requested',
        }));
        await run(endAttempts(tables, ends, now));
      }

      return released;
    });
  },
};

const nothingReported = { new_progress: null, new_message: null, new_result_ref: null, new_error: null };

/** Starts jobs, then writes the attempts of those that were started. */
function start({ atomically, tables }: Session, startJobs: Statement, executorId: string, now: Micros): Promise<Row[]> {
  return atomically(async run => {
    const started = await run(startJobs);
    if (started.length > 0) {
      await run(insertAttempts(tables, started as unknown as StartedRow[], executorId, now));
    }

    return started;
  });
}

/** Ends the running state of jobs, then the attempts of those whose update said what became of them. */
function end<R extends AttemptKeyRow>(
  { atomically, tables }: Session,
  endJobs: Statement,
  rows: readonly R[],
  now: Micros,
  endOf: (ended: { readonly state: string; readonly asked: R }) => AttemptEnd,
): Promise<EndedRow[]> {
  return atomically(async run => {
    const ended = (await run(endJobs)) as EndedRow[];
    const stateOf = new Map(ended.map(row => [rowKey(row), row.state]));
    const ends = rows.flatMap(asked => {
      const state = stateOf.get(rowKey(asked));
      return state === undefined ? [] : [endOf({ state, asked })];
    });
    if (ends.length > 0) {
      await run(endAttempts(tables, ends, now));
    }

    return ended;
  });
}
