/*
 * Is a claim as fast when the table is full of jobs that it must not take?
 *
 *   npm run bench:claim-growth -- [--scale 1] [--repeats 200]
 *
 * Beside a small table with nothing but due jobs: one that also has a million finished, 200,000 failed and 500,000 future jobs, and
 * 200,000 older due ones of definitions that nobody runs, at the head of the queue.
 */
import { MikroORM } from '@mikro-orm/postgresql';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { inFreshDatabase, settleDown } from './database/databases.mjs';
import { startServer } from './database/server.mjs';
import { defineJob, jobEntities, Jobs } from './dist/index.mjs';
import { crowds, dueJobs, insertJobs } from './growth/crowds.mjs';
import { planOf, statementsOf } from './growth/plans.mjs';
import { median } from './measure/numbers.mjs';
import { format, table } from './report/table.mjs';

const mostGrowth = 1.3;
const mostIdleMs = 5;
const claimSize = 10;
const warmUps = 20;
/** A claim may rely on the look of the one before for 50 ms; here each one looks. */
const betweenMs = 55;

const known = defineJob()({ name: 'known', queue: 'bench' });
const future = defineJob()({ name: 'future', queue: 'bench' });

const { values: options } = parseArgs({
  options: { scale: { type: 'string', default: '1' }, repeats: { type: 'string', default: '200' } },
});
const repeats = Number(options.repeats);

const server = await startServer();
try {
  const small = await measure('small', []);
  const grown = await measure('grown', crowds(Number(options.scale)));
  judge(small, grown);
} finally {
  await server.stop();
}

function measure(name, others) {
  return inFreshDatabase(server.url, name, async url => {
    const orm = await MikroORM.init({ clientUrl: url, entities: jobEntities });
    await orm.schema.create();
    for (const crowd of [...others, dueJobs(claimSize * (repeats + warmUps + 1))]) await insertJobs(orm.em, crowd);
    await settleDown(server.url, name);

    const { store } = new Jobs({ orm, notifications: false });
    const executor = { id: 'bench', name: 'bench', host: os.hostname(), leaseUntil: null, metadata: {} };
    await store.register(executor);
    const claim = definition => {
      return store.claim({ executorId: executor.id, definitions: [definition], queues: null, limit: claimSize });
    };

    const claims = await timed(() => claim(known), claimSize);
    const looks = await timed(() => claim(future), 0);
    const statements = await statementsOf(orm, () => claim(known));
    const plans = await Promise.all(statements.map(statement => planOf(orm, statement)));
    await orm.close();

    return { claims, looks, plans };
  });
}

/** How long each call took, in ms. */
async function timed(call, expected) {
  const times = [];

  for (let n = 0; n < repeats + warmUps; n++) {
    const started = performance.now();
    const { attempts } = await call();
    const ms = performance.now() - started;

    if (attempts.length !== expected) throw new Error(`claimed ${attempts.length} jobs instead of ${expected}`);
    if (n >= warmUps) times.push(ms);
    await sleep(betweenMs);
  }

  return times;
}

function judge(small, grown) {
  const growth = median(grown.claims) / median(small.claims);
  const idleMs = median(grown.looks);
  const isByIndex = grown.plans.every(isGood);

  console.log(`Node ${process.version}, load average (1 min) at the end: ${os.loadavg()[0].toFixed(1)}\n`);
  console.log(
    table(
      ['', 'small table', 'grown table', 'ratio', 'must', ''],
      [
        [
          `look and claim of ${claimSize}, ms`,
          summary(small.claims),
          summary(grown.claims),
          growth.toFixed(2),
          `ratio ≤ ${mostGrowth}`,
          verdict(growth <= mostGrowth),
        ],
        [
          'idle look, ms',
          summary(small.looks),
          summary(grown.looks),
          (idleMs / median(small.looks)).toFixed(2),
          `≤ ${mostIdleMs} ms`,
          verdict(idleMs <= mostIdleMs),
        ],
      ],
      1,
    ),
  );
  console.log('\nPlans in the grown table:');
  for (const plan of grown.plans) {
    console.log(
      `- through ${plan.indexes.join(', ')}; reads whole: ${plan.readWhole.join(', ') || 'nothing'}: ${verdict(isGood(plan))}`,
    );
  }

  process.exitCode = growth <= mostGrowth && idleMs <= mostIdleMs && isByIndex ? 0 : 1;
}

/** The tables of queues and executors are a page or two; reading them whole is right. */
function isGood({ indexes, readWhole }) {
  return indexes.includes('durable_job_claim') && !readWhole.includes('durable_job');
}

function verdict(isReached) {
  return isReached ? 'reached' : 'missed';
}

function summary(times) {
  return `${format(median(times))} (${format(Math.min(...times))}–${format(Math.max(...times))})`;
}
