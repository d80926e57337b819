import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq';
import pg from 'pg';
import { UncountedClient } from '../measure/statements.mjs';
import { payload, payloads } from '../payload.mjs';

/** A worker's options; on BullMQ's PostgreSQL backend. */
export const settings = {
  default: { concurrency: 10 },
  'concurrency 24': { concurrency: 24 },
};

export async function open({ url, orm, setting }) {
  const { concurrency } = settings[setting];
  const connection = { connectionString: url, max: concurrency + 1 };
  const side = new pg.Pool({ connectionString: url, max: 1, Client: UncountedClient });
  let queue;
  let worker;

  return {
    async prepare() {
      const client = await side.connect();
      await runMigrations(client).finally(() => client.release());
      queue = new Queue('bench', { connection }, createPostgresBackend);
      await queue.waitUntilReady();
    },
    submit: n => queue.add('bench', payload(n)),
    submitMany: (count, first) => queue.addBulk(payloads(count, first).map(data => ({ name: 'bench', data }))),

    async work({ onJob, write }) {
      const run = async ({ data: { n } }) => {
        if (write !== undefined) await orm.em.fork().transactional(em => write(em, n));
        onJob(n);
      };
      worker = new Worker('bench', run, { connection, concurrency }, createPostgresBackend);
      worker.on('error', error => console.error('bullmq', error.message));
    },

    async unfinished() {
      const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized');
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },

    async close() {
      await worker?.close(true);
      await queue?.close();
      await side.end();
    },
  };
}
