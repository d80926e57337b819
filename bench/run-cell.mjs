import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isOnPostgresql } from './cells.mjs';
import { inFreshDatabase, settleDown } from './database/databases.mjs';

/** Measures one cell, on a database and in a process of its own. Null when that failed. */
export function runCell(cell, server) {
  return isOnPostgresql(cell) ? onPostgresql(cell, server) : onSqlite(cell);
}

function onPostgresql(cell, { url: server, pid: serverPid }) {
  return inFreshDatabase(server, 'bench', async url => {
    const isPrepared = cell.scenario === 'drain';
    if (isPrepared) await inChild({ ...cell, url, scenario: 'preload', role: 'producer' });
    await settleDown(server, 'bench');

    return inChild({ ...cell, url, serverPid, isPrepared });
  });
}

async function onSqlite(cell) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-bench-sqlite-'));

  try {
    return await inChild({ ...cell, file: path.join(folder, 'bench.db') });
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function inChild(cell) {
  const child = fork(path.join(import.meta.dirname, 'cell.mjs'), [JSON.stringify(cell)], {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 300_000);
  let result = null;
  child.on('message', message => (result = message));
  await once(child, 'exit');

  clearTimeout(timer);
  return result;
}
