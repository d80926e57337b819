/*
 * A shop's message handler. Read messages.ts (what a message causes) and jobs.ts (what runs later); the rest is plumbing.
 *
 *   npm run example -- [--messages <file, or - for standard input>] [--data <folder>] [--fresh]
 *                      [--postgres [<address>]]
 */
import type { MikroORM } from '@mikro-orm/core';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { activeStates, Job, Jobs } from '../../src/index.ts';
import { deliverAll } from './broker.ts';
import { openPostgres, openSqlite, prepare } from './database.ts';
import { handlersOf } from './jobs.ts';
import { log, logger } from './log.ts';
import { handle } from './messages.ts';
import { report } from './report.ts';

const { values: options, positionals } = parseArgs({
  options: {
    messages: { type: 'string', default: path.join(import.meta.dirname, 'messages.jsonl') },
    data: { type: 'string', default: path.join(import.meta.dirname, '.data') },
    fresh: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

if (!options.postgres) {
  await runOn(await openSqlite(options.data));
} else {
  const given = positionals[0] ?? process.env.EXAMPLE_PG_URL;
  const server = given === undefined ? await embeddedPostgres() : null;
  await runOn(await openPostgres(given ?? server!.url));
  await server?.stop();
}

async function runOn(orm: MikroORM): Promise<void> {
  await prepare(orm, options);

  const jobs = new Jobs({
    orm,
    logger,
    // Short, so that nobody waits for an example: after a kill, a message is held for as long as its lease.
    unitOfWork: { lease: '2s', busyCheckEvery: '100ms', retry: { base: '200ms', jitter: 0 } },
  });
  // One process at a time: what a killed one left running is recovered at once, not after its lease.
  const executor = jobs.executor({ handlers: handlersOf(jobs), concurrency: 4, lease: false });

  await executor.start();
  await deliverAll(options.messages, message => handle(jobs, message));
  process.exitCode = (await isSettled(orm)) ? 0 : 1;
  await executor.stop();

  console.log(await report(orm.em));
  await orm.close();
}

/** Waits until no job is left that is due within the next minute; not for ever. */
async function isSettled(orm: MikroORM): Promise<boolean> {
  for (let tries = 0; tries < 600; tries++) {
    const soon = (Date.now() + 60_000) * 1000; // instants are stored in microseconds
    const left = await orm.em.fork().count(Job, { state: { $in: activeStates }, nextRunAt: { $lt: soon } });
    if (left === 0) return true;
    await wait(100);
  }

  return false;
}

/** Loaded only where it is needed: an application doesn't have it. */
async function embeddedPostgres() {
  log('starting PostgreSQL …');
  const { startEmbeddedPostgres } = await import('./embedded-postgres.ts');

  return startEmbeddedPostgres(path.resolve(options.data, 'postgres'));
}
