// Processes that place orders and run their jobs, killed at random, and what they leave behind in the end.
//   npm run soak -- [--minutes 10] [--processes 4] [--sqlite] [--freeze] [--restart-database] [--seed 1]
// `--freeze` also stops processes for longer than their lease; `--restart-database` restarts PostgreSQL every ten seconds, in
// turn in an orderly way and by a kill. The first process is left alone: its heap should stay flat.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createOrm, dbNameOf, dropOrm, type TestOrm } from '../support/orm.ts';
import { audit, unfinished } from './audit.ts';
import { Fleet } from './fleet.ts';
import { RestartablePostgres } from './restartable-postgres.ts';
import { entities } from './shop.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    processes: { type: 'string', default: '4' },
    rate: { type: 'string', default: '10' },
    sqlite: { type: 'boolean', default: false },
    freeze: { type: 'boolean', default: false },
    'restart-database': { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
});
const driver = options.sqlite ? 'sqlite' : 'postgresql';
const patienceMs = 180_000;

const server = options.sqlite ? null : await RestartablePostgres.start();
if (server) process.env.TEST_PG_URL = server.url;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-soak-'));
const orm = await createOrm(driver, entities, { file: true });
const fleet = new Fleet({
  args: [driver, dbNameOf(orm), folder, options.rate],
  size: Number(options.processes),
  seed: Number(options.seed),
  freezes: options.freeze,
});

try {
  console.log(`seed ${options.seed}`);
  await fleet.open();
  const over = AbortSignal.timeout(Number(options.minutes) * 60_000);
  await Promise.all([
    fleet.disturbUntil(over),
    server && options['restart-database'] ? server.restartUntil(over) : null,
  ]);
  await fleet.placeNoMore();
  await untilAllEnded(orm);
  await fleet.close();
  const { problems, ...found } = await audit(orm);
  console.log({ ...fleet.counts, restarts: server?.restarts, ...found, events: fleet.events, heapMiB: fleet.heapMiB });
  [...problems.slice(0, 20), ...fleet.problems].forEach(problem => console.log(`PROBLEM ${problem}`));
  console.log(`${problems.length + fleet.problems.length} problems`);
  process.exitCode = problems.length + fleet.problems.length === 0 ? 0 : 1;
} finally {
  await fleet.kill();
  await dropOrm(orm).catch(() => {});
  await server?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}

async function untilAllEnded(orm: TestOrm): Promise<void> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const left = await unfinished(orm).catch(() => -1);
    if (left === 0) return;
    if (Date.now() > end) {
      console.log(`PROBLEM ${left} jobs have not ended`);
      return;
    }
    await delay(500);
  }
}
