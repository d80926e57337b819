import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Jobs, type LogFields } from '../../src/index.ts';
import { closeOrm, openOrm, type Driver, type TestOrm } from '../support/orm.ts';
import { LiveJobs } from './live-jobs.ts';
import { charge, entities, flaky, jobIdsOf, receipt, tick } from './shop.ts';

class Withdrawn extends Error {}

// Places orders until SIGUSR2 and runs their jobs until SIGTERM. Every line that it writes is JSON.
const [driver, dbName, folder, ordersPerSecond] = process.argv.slice(2) as [Driver, string, string, string];
const live = new LiveJobs(path.join(folder, 'live'));
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const closing = new AbortController();
const placing = new AbortController();
process.once('SIGUSR2', () => placing.abort());
process.once('SIGTERM', () => closing.abort());
process.on('unhandledRejection', error => say({ event: 'unhandled_rejection', error: String(error) }));

const orm = await openOrm(driver, entities, { dbName, pool: { min: 0, max: 8 } });
if (driver === 'sqlite') await orm.em.execute('pragma busy_timeout = 2000');
const jobs = new Jobs({ orm, connectionTimeout: '5s', logger: { info: () => {}, warn: tell, error: tell } });

const executor = jobs.executor({
  handlers: [
    jobs.handler(charge, job =>
      alone(job.id, async () => {
        await delay(Math.random() * 60);
        await job.transactional(em => book(em as never, job.id));
      }),
    ),
    jobs.handler(receipt, job =>
      alone(job.id, async () => {
        job.progress(50);
        await delay(Math.random() * 20);
      }),
    ),
    jobs.handler(flaky, job =>
      alone(job.id, async () => {
        if (job.attempt === 1) throw new Error('the first time');
        await job.transactional(em => book(em as never, job.id));
      }),
    ),
    jobs.handler(tick, job => job.transactional(em => book(em as never, job.id))),
  ],
  concurrency: 6,
  pollInterval: '1s',
  lease: '8s',
  renewEvery: '2s',
  clockSkew: '500ms',
  maintenanceInterval: '2s',
});

await untilItWorks(() => executor.start());
await untilItWorks(() => jobs.recurring.upsert('tick', { cron: '* * * * * *', job: tick.create({}), missed: 'none' }));
say({ event: 'ready' });
const measuring = setInterval(sayHeap, 15_000);
while (!placing.signal.aborted) {
  await placeOrder().catch((error: unknown) => say({ event: 'order_failed', error: String(error) }));
  await delay(1000 / Number(ordersPerSecond));
}
await jobs.recurring.remove('tick').catch(() => false);
while (!closing.signal.aborted) await delay(50);
await executor.stop();
await closeOrm(orm);
clearInterval(measuring);

async function placeOrder(): Promise<void> {
  const order = randomUUID();
  const ids = jobIdsOf(order);
  const first = charge.create({ order }, { id: ids.charge });

  await orm.em
    .fork()
    .transactional(async em => {
      await em.execute(`insert into placed_order (id) values ('${order}')`);
      await jobs.stage(em, [
        first,
        receipt.create({ order }, { id: ids.receipt, after: [first] }),
        flaky.create({ order }, { id: ids.flaky }),
      ]);
      if (Math.random() < 0.1) throw new Withdrawn();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Withdrawn)) throw error;
    });
  if (Math.random() < 0.1) await jobs.scope('').cancel(ids.charge);
}

async function book(em: TestOrm['em'], jobId: string): Promise<void> {
  await em.execute(`insert into booking (job_id) values ('${jobId}')`);
}

/** Says so if another living process is at the same job. */
async function alone(jobId: string, work: () => Promise<void>): Promise<void> {
  if (!live.begin(jobId)) say({ event: 'two_owners', jobId });
  try {
    await work();
  } finally {
    live.end(jobId);
  }
}

async function untilItWorks(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      say({ event: 'not_yet', error: String(error) });
      await delay(200);
    }
  }
}

/** What is still in use after a collection. */
function sayHeap(): void {
  collectGarbage();
  say({ event: 'heap', heapMiB: Math.round(process.memoryUsage().heapUsed / 2 ** 18) / 4 });
}

function tell({ event, error }: LogFields): void {
  say({ event, error: error instanceof Error ? String(error).slice(0, 300) : undefined });
}

function say(line: { readonly event: string; readonly [field: string]: unknown }): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
