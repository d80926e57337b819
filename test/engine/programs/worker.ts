import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { AttemptAbortedError, defineJob, jobEntities, Jobs } from '../../../src/index.ts';
import { openOrm, type Driver, type TestOrm } from '../../support/orm.ts';
import { runUntilTerminated, shortLease } from './run-until-terminated.ts';

// An executor with a short lease. Each job leaves one row in `effect`, in the transaction that settles it. `slow` jobs wait
// inside that transaction for SIGUSR2, `held` ones for their signal; the first start of a `busy` one keeps the thread until a file is there.
const [driver, dbName, name] = process.argv.slice(2) as [Driver, string, string];
const orm = await openOrm(driver, jobEntities, { dbName, pool: { min: 0, max: 10 } });
const jobs = new Jobs({ orm, logger: { info: () => {}, warn: said, error: said } });
const work = defineJob<{ ms: number }>()({ name: 'work' });
const slow = defineJob<unknown>()({ name: 'slow' });
const held = defineJob<unknown>()({ name: 'held' });
const busy = defineJob<{ file: string }>()({ name: 'busy' });
const permission = new Promise<void>(resolve => process.once('SIGUSR2', () => resolve()));

const executor = jobs.executor({
  handlers: [
    jobs.handler(work, async job => {
      await delay(job.payload.ms);
      await job.transactional(em => leaveEffect(em as never, job));
    }),
    jobs.handler(slow, async job => {
      try {
        await job.transactional(async em => {
          await leaveEffect(em as never, job);
          console.log(`began ${job.id} ${job.attempt}`);
          await permission;
        });
        console.log(`committed ${job.id} ${job.attempt}`);
      } catch (error) {
        console.log(
          `refused ${job.id} ${job.attempt} ${error instanceof AttemptAbortedError ? error.why : String(error)}`,
        );
      }
    }),
    jobs.handler(held, async job => {
      console.log(`began ${job.id} ${job.attempt}`);
      await new Promise<void>(resolve => job.signal.addEventListener('abort', () => resolve(), { once: true }));
      console.log(`aborted ${job.id} ${job.attempt} ${(job.signal.reason as AttemptAbortedError).why}`);
    }),
    jobs.handler(busy, job => {
      console.log(`began ${job.id} ${job.attempt}`);
      while (job.attempt === 1 && !existsSync(job.payload.file));
      return name;
    }),
  ],
  name,
  queues: ['default', name],
  concurrency: 4,
  pollInterval: 200,
  ...shortLease,
});

await runUntilTerminated(executor, orm);

async function leaveEffect(em: TestOrm['em'], job: { id: string; attempt: number }): Promise<void> {
  await em.execute(`insert into effect (job_id, attempt, worker) values ('${job.id}', ${job.attempt}, '${name}')`);
}

function said(fields: { readonly event: string }): void {
  console.log(`log ${fields.event}`);
}
