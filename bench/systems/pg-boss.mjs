import { fromKysely, PgBoss } from 'pg-boss';
import pg from 'pg';
import { UncountedClient } from '../measure/statements.mjs';
import { payload, payloads } from '../payload.mjs';

const continuous = { pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };

/** A worker's options; `notify` also turns the queue's and the instance's notifications on. */
export const settings = {
  default: { localConcurrency: 10 },
  notify: { localConcurrency: 10 },
  'batches of 100': { localConcurrency: 10, batchSize: 100, ...continuous },
  'batches of 1000': { localConcurrency: 4, batchSize: 1000, ...continuous },
};

export async function open({ url, orm, setting, role }) {
  const notify = setting === 'notify';
  const boss = new PgBoss({ connectionString: url, useListenNotify: notify && role === 'worker' });
  const side = new pg.Pool({ connectionString: url, max: 1, Client: UncountedClient });
  boss.on('error', error => console.error('pg-boss', error.message));
  boss.on('warning', () => {});
  await boss.start();

  return {
    prepare: async () => {
      if (!(await boss.getQueue('bench'))) await boss.createQueue('bench', { notify });
    },
    submit: n => boss.send('bench', payload(n)),
    submitMany: (count, first) =>
      boss.insert(
        'bench',
        payloads(count, first).map(data => ({ data })),
      ),
    stage: (em, n) => boss.send('bench', payload(n), { db: fromKysely(em.getTransactionContext()) }),

    async work({ onJob, write }) {
      const run = async ({ data: { n } }) => {
        if (write !== undefined) await orm.em.fork().transactional(em => write(em, n));
        onJob(n);
      };
      await boss.work('bench', settings[setting], async jobs => {
        if (write === undefined) jobs.forEach(({ data: { n } }) => onJob(n));
        else await Promise.all(jobs.map(run));
      });
    },

    unfinished: async () => {
      const { rows } = await side.query(`select count(*) from pgboss.job where name = 'bench' and state < 'completed'`);
      return Number(rows[0].count);
    },

    async close() {
      await boss.stop({ graceful: false });
      await side.end();
    },
  };
}
