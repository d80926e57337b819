import Database from 'better-sqlite3';
import { better, defineQueue, defineWorker } from 'plainjob';
import { payloads } from '../payload.mjs';

const quiet = { debug() {}, info() {}, warn() {}, error: console.error };

export async function open({ file }) {
  const database = new Database(file);
  const queue = defineQueue({ connection: better(database), logger: quiet });
  // It asks for NORMAL, under which a power failure takes back what was committed.
  database.pragma('synchronous = full');
  let worker;

  return {
    submitMany: async (count, first) => void queue.addMany('bench', payloads(count, first)),

    async work({ onJob }) {
      worker = defineWorker('bench', async ({ data }) => onJob(JSON.parse(data).n), { queue, logger: quiet });
      void worker.start();
    },

    unfinished: async () => database.prepare('select count(*) as c from plainjob_jobs where status < 2').get().c,

    async close() {
      await worker?.stop();
      queue.close();
    },
  };
}
