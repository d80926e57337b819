import { MikroORM } from '@mikro-orm/sqlite';
import { defineJob, jobEntities, Jobs } from '../dist/index.mjs';
import { payloads } from '../payload.mjs';

const job = defineJob()({ name: 'bench', queue: 'bench' });

/** An executor's options. `best` is what suits handlers that end at once. */
const settings = { default: {}, best: { concurrency: 200 } };

const quiet = { debug() {}, info() {}, warn() {}, error: console.error };

export async function open({ file, setting }) {
  const orm = await MikroORM.init({ dbName: file, entities: jobEntities });
  await orm.em.execute('pragma journal_mode = wal');
  await orm.em.execute('pragma synchronous = full');
  await orm.schema.create();
  const jobs = new Jobs({ orm, logger: quiet });
  let executor;

  return {
    submitMany: (count, first) => jobs.submit(payloads(count, first).map(each => job.create(each))),

    async work({ onJob }) {
      const handler = jobs.handler(job, async ({ payload: { n } }) => onJob(n));
      executor = jobs.executor({ handlers: [handler], ...settings[setting] });
      await executor.start();
    },

    async unfinished() {
      const [row] = await orm.em.execute(`select count(*) as c from durable_job where state in ('queued', 'running')`);
      return row.c;
    },

    async close() {
      await executor?.stop();
      await orm.close();
    },
  };
}
