// Type-checks the same source against MikroORM 6. A path that doesn't resolve falls back to the 7 of the repository
// without a word, so the list of files that the compiler read is looked at, too.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const { status, stdout } = spawnSync('tsc', ['--noEmit', '-p', 'tsconfig.v6.json', '--listFiles'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 1 << 28,
});
const lines = stdout.split('\n').filter(Boolean);
const files = lines.filter(line => path.isAbsolute(line) || line.startsWith(root));
const seven = files.filter(file => file.startsWith(path.join(root, 'node_modules/@mikro-orm/')));
const six = files.filter(file => file.includes('compat/mikro-orm-6/node_modules/@mikro-orm/'));

for (const line of lines) if (!files.includes(line)) console.log(line);
if (seven.length > 0) console.log(`MikroORM 7 was read instead of 6:\n${seven.slice(0, 5).join('\n')}`);
if (six.length === 0) console.log('MikroORM 6 was not read at all.');

process.exitCode = status !== 0 || seven.length > 0 || six.length === 0 ? 1 : 0;
