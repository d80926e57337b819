import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { UncountedClient } from '../measure/statements.mjs';
import { payload, payloads } from '../payload.mjs';

process.env.NO_LOG_SUCCESS = '1';
const logger = new Logger(() => () => {});

/** `documented` is what its page on performance advises; `best` is what we found fastest. */
export const settings = {
  default: { concurrentJobs: 10 },
  documented: {
    concurrentJobs: 10,
    maxPoolSize: 12,
    localQueue: { size: 11 },
    completeJobBatchDelay: 250,
    failJobBatchDelay: 250,
  },
  best: {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

export async function open({ url, orm, setting }) {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  const side = new pg.Pool({ connectionString: url, max: 1, Client: UncountedClient });
  let runner;

  return {
    prepare: () => utils.migrate(),
    submit: n => utils.addJob('bench', payload(n)),
    submitMany: (count, first) =>
      utils.addJobs(payloads(count, first).map(each => ({ identifier: 'bench', payload: each }))),
    // Its documented way into an open transaction is its SQL function.
    stage: (em, n) =>
      em
        .getTransactionContext()
        .executeQuery(
          CompiledQuery.raw('select graphile_worker.add_job($1, $2::json)', ['bench', JSON.stringify(payload(n))]),
        ),

    async work({ onJob, write }) {
      const task = async ({ n }) => {
        if (write !== undefined) await orm.em.fork().transactional(em => write(em, n));
        onJob(n);
      };
      runner = await run({
        preset: { worker: { connectionString: url, ...settings[setting], logger } },
        noHandleSignals: true,
        logger,
        taskList: { bench: task },
      });
    },

    unfinished: async () => {
      const { rows } = await side.query('select count(*) from graphile_worker._private_jobs');
      return Number(rows[0].count);
    },

    async close() {
      await runner?.stop();
      await utils.release();
      await side.end();
    },
  };
}
