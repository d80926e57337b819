import type { Micros } from '../../../core/time.ts';
import { attemptKey, attemptRowKey, rowKey } from '../../job-row.ts';
import type { Row, Session } from '../../session.ts';
import type { AttemptKeyRow } from '../attempt-key-row.ts';
import type { AttemptRow, EndedRow, JobKeyRow, MovedRow, ResolvedRow, SqlDialect } from '../dialect.ts';
import { insertJob } from '../shared/insert-job.ts';
import { progressReportRow } from '../progress-report-row.ts';
import { settlementRow } from '../settlement-row.ts';
import { sql, type Statement } from '../statement.ts';
import { claimJobs } from './claim-jobs.ts';
import { deleteAttempts } from './delete-attempts.ts';
import { deleteAttemptsOf, deleteFinishedJobs, deleteWaitsFor, deleteWaitsOf } from './delete-finished-jobs.ts';
import { endAttempts, type AttemptEnd } from './end-attempts.ts';
import { insertAttempts, type StartedRow } from './insert-attempts.ts';
import { insertJobs } from './insert-jobs.ts';
import { lockQueues } from './lock-queues.ts';
import { recoverJobs } from './recover-jobs.ts';
import { releaseJobs } from './release-jobs.ts';
import { reportAttemptProgress, reportJobProgress } from './report-progress.ts';
import { resolveJobs } from './resolve-jobs.ts';
import { settleJobs } from './settle-jobs.ts';
import { runningAttempts } from './running-attempts.ts';
import { startJob } from './start-job.ts';
import { withShortBusyTimeout } from './with-short-busy-timeout.ts';

/** SQLite: an update can't carry a second one, so a move is two statements in one transaction whose first one writes. */
export const sqliteDialect: SqlDialect = {
  name: 'sqlite',
  hasNotifications: false,
  hasIsolationLevels: false,
  hasOneWriter: true,
  setup: async run => {
    const [row] = await run(sql`pragma journal_mode`);
    const isWal = row?.journal_mode === 'wal';
    // A database in memory is nobody else's.
    const hasWaitingRead = !isWal && row?.journal_mode !== 'memory';

    return { needsTransaction: true, hasWaitingCommit: !isWal, hasWaitingRead };
  },
  transaction: withShortBusyTimeout,

  insertJobs: async (run, tables, rows) => {
    const [only] = rows;
    return (await run(rows.length === 1 ? insertJob(tables, only!) : insertJobs(tables, rows))) as JobKeyRow[];
  },

  resolveJobs: async (run, tables, candidates, now) =>
    (await run(resolveJobs(tables, candidates, now))) as ResolvedRow[],
  // One writes at a time: who ends a job sees all children that were committed, and theirs is the next look.
  touchParents: () => Promise.resolve(),
  lockQueues: (run, tables, names) => run(lockQueues(tables, names)),
  claimJobs: (session, claim) => start(session, claimJobs(session.tables, claim), claim.executorId, claim.now),
  startJob: async (session, one) => (await start(session, startJob(session.tables, one), one.executorId, one.now))[0],

  progress: ({ atomically, tables }, reports) => {
    const rows = reports.map(progressReportRow);

    return atomically(async run => {
      const written = (await run(reportJobProgress(tables, rows))) as AttemptRow[];
      const keys = new Set(written.map(attemptRowKey));
      if (keys.size > 0) {
        await run(
          reportAttemptProgress(
            tables,
            rows.filter(row => keys.has(attemptRowKey(row))),
          ),
        );
      }

      return written;
    });
  },

  settle: (session, settlements, now) => {
    const rows = settlements.map(settlementRow);

    return end(session, settleJobs(session.tables, rows, now), rows, now, ({ state, asked }) => ({
      ...asked,
      new_state: state === 'cancelled' ? 'cancelled' : asked.outcome === 'rescheduled' ? 'failed' : asked.outcome,
      new_result_ref: state === 'succeeded' ? asked.new_result_ref : undefined,
      new_reason: state === 'cancelled' ? 'cancel_requested' : asked.new_reason,
    }));
  },

  recover: (session, attempts, how, now) => {
    const rows = attempts.map(attemptKey);

    return end(session, recoverJobs(session.tables, rows, how, now), rows, now, ({ state, asked }) => ({
      ...asked,
      new_state: state === 'cancelled' ? 'cancelled' : 'interrupted',
      new_reason: state === 'cancelled' ? 'cancel_requested' : how.reason,
    }));
  },

  release: ({ atomically, tables }, attempts, now) => {
    const rows = attempts.map(attemptKey);

    return atomically(async run => {
      const stateOf = statesByJob(await run(releaseJobs(tables, rows, now)));
      const asked = rows.filter(row => stateOf(row) !== undefined);
      const released = asked.length === 0 ? [] : ((await run(runningAttempts(tables, asked))) as AttemptRow[]);
      const undone = released.filter(row => stateOf(row) === 'queued');
      const cancelled = released.filter(row => stateOf(row) === 'cancelled');

      if (undone.length > 0) {
        await run(deleteAttempts(tables, undone));
      }
      if (cancelled.length > 0) {
        const ends = cancelled.map(row => ({
          ...row,
          new_state: 'cancelled',
          new_reason: 'cancel_requested',
        }));
        await run(endAttempts(tables, ends, now));
      }

      return released.map(row => ({ ...row, state: stateOf(row)!, is_parent: true }));
    });
  },

  deleteFinished: ({ atomically, tables }, doomed) => {
    return atomically(async run => {
      const deleted = (await run(deleteFinishedJobs(tables, doomed))) as MovedRow[];
      if (deleted.length > 0) {
        await run(deleteAttemptsOf(tables, deleted));
        await run(deleteWaitsOf(tables, deleted));
        await run(
          deleteWaitsFor(
            tables,
            deleted.filter(({ state }) => state === 'succeeded'),
          ),
        );
      }

      return deleted;
    });
  },
};

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

/**
 * Ends the running state of jobs, then their attempts, by what became of the jobs. The update of the jobs can't answer which
 * token it met, the one of the attempts can: a stale attempt has ended already.
 */
function end<R extends AttemptKeyRow>(
  { atomically, tables }: Session,
  endJobs: Statement,
  rows: readonly R[],
  now: Micros,
  endOf: (ended: { readonly state: string; readonly asked: R }) => AttemptEnd,
): Promise<EndedRow[]> {
  return atomically(async run => {
    const stateOf = statesByJob(await run(endJobs));
    const ends = rows.flatMap(asked => {
      const state = stateOf(asked);
      return state === undefined ? [] : [endOf({ state, asked })];
    });
    const ended = ends.length === 0 ? [] : await run(endAttempts(tables, ends, now));

    return (ended as EndedRow[]).map(row => ({ ...row, state: stateOf(row)! }));
  });
}

/** The states that jobs have now, by anything that has their keys. */
function statesByJob(rows: readonly Row[]): (of: AttemptKeyRow) => string | undefined {
  const states = new Map((rows as JobKeyRow[]).map(row => [rowKey(row), row.state as string]));
  return of => states.get(rowKey(of));
}
