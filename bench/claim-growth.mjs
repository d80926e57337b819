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
  await inFreshDatabase(server.url, 'small', async smallUrl => {
    await inFreshDatabase(server.url, 'grown', async grownUrl => {
      const small = await open('small', smallUrl, []);
      const grown = await open('grown', grownUrl, crowds(Number(options.scale)));

      const [smallClaims, grownClaims] = await timed([small, grown], known, claimSize);
      const [smallLooks, grownLooks] = await timed([small, grown], future, 0);
      judge(
        { claims: smallClaims, looks: smallLooks },
        { claims: grownClaims, looks: grownLooks, plans: await grown.plans() },
      );
      await Promise.all([small.close(), grown.close()]);
    });
  });
} finally {
  await server.stop();
}

async function open(name, url, others) {
  const orm = await MikroORM.init({ clientUrl: url, entities: jobEntities });
  await orm.schema.create();
  for (const crowd of [...others, dueJobs(claimSize * (repeats + warmUps + 2))]) await insertJobs(orm.em, crowd);
  await settleDown(server.url, name);

  const executor = { id: 'bench', name: 'bench', host: os.hostname(), leaseUntil: null, metadata: {} };
  const { store } = new Jobs({ orm, notifications: false });
  await store.register(executor);
  const claimOf = from => definition => {
    return from.claim({ executorId: executor.id, definitions: [definition], queues: null, limit: claimSize });
  };

  return {
    claim: claimOf(store),
    // As text, or MikroORM would not see them.
    plans: async () => {
      const claimAsText = claimOf(new Jobs({ orm, notifications: false, preparedStatements: false }).store);
      // The first call asks for the host's settings too, and the next one within 50 ms would not look.
      await claimAsText(known);
      await sleep(betweenMs);
      const statements = await statementsOf(orm, () => claimAsText(known));
      return Promise.all(statements.map(statement => planOf(orm, statement)));
    },
    close: () => orm.close(),
  };
}

/** How long each call took, in ms, for each of the tables; in turns, as the machine has better minutes and worse ones. */
async function timed(tables, definition, expected) {
  const times = tables.map(() => []);

  for (let n = 0; n < repeats + warmUps; n++) {
    for (const [index, { claim }] of tables.entries()) {
      const started = performance.now();
      const { attempts } = await claim(definition);
      const ms = performance.now() - started;

      if (attempts.length !== expected) throw new Error(`claimed ${attempts.length} jobs instead of ${expected}`);
      if (n >= warmUps) times[index].push(ms);
    }
    await sleep(betweenMs);
  }

  return times;
}

function judge(small, grown) {
  const growth = median(grown.claims) / median(small.claims);
  const idleMs = median(grown.looks);
  const isByIndex = grown.plans.length > 0 && grown.plans.every(isGood);

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
