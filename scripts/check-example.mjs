// The example's own tests pass, and it writes what its page says, on both databases: from an empty folder, and again with `--fresh`.
import fs from 'node:fs';
import path from 'node:path';
import { inTemporaryFolder, report, root, run } from './run.mjs';

const file = path.join(root, 'examples/outbox-handler/expected-output.txt');

if (!fs.existsSync(file)) report('example', [`missing: ${path.relative(root, file)}`]);
else await compare(fs.readFileSync(file, 'utf8'));

async function compare(expected) {
  await inTemporaryFolder(folder => {
    fs.chmodSync(folder, 0o755); // as root, the example's PostgreSQL runs as another user
    const data = ['--data', folder];
    const runs = [data, [...data, '--fresh'], ['--postgres', ...data], ['--postgres', ...data, '--fresh']];

    report(`example, its tests and ${runs.length} runs`, [
      ...failedTests(),
      ...runs.flatMap(args => difference(expected, args)),
    ]);
  });
}

function difference(expected, args) {
  const command = ['run', '--silent', 'example', '--', ...args];
  const title = ['npm', ...command].join(' ');

  try {
    const written = run('npm', command, { env: { ...process.env, EXAMPLE_PG_URL: undefined }, timeout: 120_000 });
    return written === expected ? [] : [`${title}: expected\n${expected}\ngot\n${written}`];
  } catch (error) {
    return [`${title}: ${error.message}`];
  }
}

function failedTests() {
  try {
    run('npm', ['run', '--silent', 'example:test'], { timeout: 120_000 });
    return [];
  } catch (error) {
    return [error.message];
  }
}
