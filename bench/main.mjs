/*
 * Job libraries side by side.
 *
 *   npm run bench -- [--repeats 3] [--only <text>[,<text>]] [--scale 1] [--out <file>]
 *   npm run bench -- --report <file>
 *
 * `--only` takes groups and systems by a part of their names, `--scale 0.01` makes everything small, to try the harness.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { cells } from './cells.mjs';
import { startServer } from './database/server.mjs';
import { report } from './report/report.mjs';
import { runCell } from './run-cell.mjs';

const { values: options } = parseArgs({
  options: {
    repeats: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    scale: { type: 'string', default: '1' },
    out: { type: 'string', default: path.join(import.meta.dirname, 'results', 'latest.jsonl') },
    report: { type: 'string' },
  },
});

if (options.report === undefined) await measure();
console.log(report(read(options.report ?? options.out)));

/** Repeat by repeat, so that what disturbs the machine for a while disturbs all alike. */
async function measure() {
  fs.mkdirSync(path.dirname(options.out), { recursive: true });
  fs.writeFileSync(options.out, '');
  const server = await startServer();

  try {
    for (let repeat = 1; repeat <= Number(options.repeats); repeat++) {
      for (const cell of wanted()) await measureOne(cell, repeat, server);
    }
  } finally {
    await server.stop();
  }
}

async function measureOne(cell, repeat, server) {
  const load = os.loadavg()[0];
  const result = await runCell(cell, server);
  const name = `${repeat}: ${cell.group}, ${cell.system}, ${cell.setting}`;

  if (result === null) {
    console.error(`${name}: failed`);
    process.exitCode = 1;
    return;
  }
  console.error(`${name}: ${result.perSecond?.toFixed(0) ?? result.p50?.toFixed(2) ?? result.statementsPerSecond}`);
  fs.appendFileSync(options.out, `${JSON.stringify({ repeat, load, cell, result })}\n`);
}

function wanted() {
  const parts = options.only.split(',');
  const scale = Number(options.scale);

  return cells
    .filter(({ group, system }) => parts.some(part => group.includes(part) || system.includes(part)))
    .map(({ count, seconds, ...cell }) => ({
      ...cell,
      ...(count !== undefined && { count: Math.ceil(count * scale) }),
      ...(seconds !== undefined && { seconds: Math.ceil(seconds * scale) }),
    }));
}

function read(file) {
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
}
