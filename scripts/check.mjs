// Everything that has to hold before a change is merged. CI runs the same list, `npm test` first.
//   node scripts/check.mjs [--except <script>]…
// Ends with `N passed, M failed`: every test of both suites, and each other step as one.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from './run.mjs';

const steps = [
  'format:check',
  'lint',
  'check:files',
  'typecheck',
  'typecheck:v6',
  'test',
  'test:v6',
  'check:package',
  'check:hosts',
  'example:check',
];

const except = process.argv.slice(2).filter((argument, index, all) => all[index - 1] === '--except');
// CI hands the file in, with the counts of what it ran before.
const counts =
  process.env.TEST_COUNTS ?? path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-counts-')), 'counts');

for (const step of steps.filter(step => !except.includes(step))) runStep(step);

const [passed, failed] = total();
if (!process.env.TEST_COUNTS) fs.rmSync(path.dirname(counts), { recursive: true });

console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function runStep(step) {
  console.log(`\n== npm run ${step}`);
  const before = total();
  const { status } = spawnSync('npm', ['run', '--silent', step], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_COUNTS: counts },
  });
  const after = total();

  if (status !== 0 && after[1] === before[1]) add(0, 1);
  if (status === 0 && after[0] === before[0]) add(1, 0);
}

function add(passed, failed) {
  fs.appendFileSync(counts, `${passed} ${failed}\n`);
}

function total() {
  const lines = fs.existsSync(counts) ? fs.readFileSync(counts, 'utf8').split('\n').filter(Boolean) : [];

  return lines
    .map(line => line.split(' ').map(Number))
    .reduce(([passed, failed], [p, f]) => [passed + p, failed + f], [0, 0]);
}
