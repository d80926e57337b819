// The example says what its page says: twice on each database, each time from nothing.
import fs from 'node:fs';
import path from 'node:path';
import { startPostgres } from '../test/support/postgres.ts';
import { report, root, run } from './run.mjs';

const file = path.join(root, 'examples/outbox-handler/expected-output.txt');

if (!fs.existsSync(file)) report('example', [`missing: ${path.relative(root, file)}`]);
else await compare(fs.readFileSync(file, 'utf8'));

async function compare(expected) {
  const server = await startPostgres();

  try {
    const env = { ...process.env, TEST_PG_URL: server.url };
    const runs = [[], [], ['--postgres'], ['--postgres']];

    report(
      `example, ${runs.length} runs`,
      runs.flatMap(args => difference(expected, args, env)),
    );
  } finally {
    await server.stop();
  }
}

function difference(expected, args, env) {
  const command = ['run', '--silent', 'example', ...(args.length > 0 ? ['--', ...args] : [])];
  const title = ['npm', ...command].join(' ');

  try {
    const written = run('npm', command, { env, timeout: 120_000 });
    return written === expected ? [] : [`${title}: expected\n${expected}\ngot\n${written}`];
  } catch (error) {
    return [`${title}: ${error.message}`];
  }
}
