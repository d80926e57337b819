import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { defineJob, jobEntities, Jobs } from '../dist/index.mjs';
import { UncountedClient } from '../measure/statements.mjs';
import { payload, payloads } from '../payload.mjs';

const job = defineJob()({ name: 'bench', queue: 'bench' });
const quiet = { debug() {}, info() {}, warn() {}, error: console.error };

/**
 * An executor's options. `best` is what suits handlers that end at once. `exactly once`: a handler that writes does it by
 * `job.transactional`, so that its row and the end of its job commit together.
 */
export const settings = {
  default: {},
  'concurrency 24': { concurrency: 24 },
  'exactly once': { concurrency: 24 },
  best: { concurrency: 200 },
};

export const entities = jobEntities;

export async function open({ url, orm: application, setting, isPrepared, connections = 12 }) {
  const orm =
    application ?? (await MikroORM.init({ clientUrl: url, entities: jobEntities, pool: { min: 0, max: connections } }));
  const side = new pg.Pool({ connectionString: url, max: 1, Client: UncountedClient });
  const jobs = new Jobs({ orm, logger: quiet });
  let executor;

  return {
    prepare: async () => {
      if (application === undefined && !isPrepared) await orm.schema.create();
    },
    submit: n => jobs.submit(job.create(payload(n))),
    submitMany: (count, first) => jobs.submit(payloads(count, first).map(each => job.create(each))),
    stage: (em, n) => jobs.stage(em, job.create(payload(n))),

    async work({ onJob, write }) {
      const run =
        write === undefined
          ? async ({ payload: { n } }) => onJob(n)
          : async ({ payload: { n }, em, transactional }) => {
              await (setting === 'exactly once'
                ? transactional(em => write(em, n))
                : em.transactional(em => write(em, n)));
              onJob(n);
            };
      executor = jobs.executor({ handlers: [jobs.handler(job, run)], ...settings[setting] });
      await executor.start();
    },

    unfinished: async () => {
      const { rows } = await side.query(`select count(*) from durable_job where state in ('queued', 'running')`);
      return Number(rows[0].count);
    },

    async close() {
      await executor?.stop();
      if (application === undefined) await orm.close();
      await side.end();
    },
  };
}
