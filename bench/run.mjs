// Installs the peers, builds the library, then runs what the first argument names: `main` or `claim-growth`.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const [program = 'main', ...args] = process.argv.slice(2);

run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], import.meta.dirname);
run('npx', ['tsdown', '--log-level', 'error', '--no-dts', '--format', 'esm', '--out-dir', 'bench/dist'], root);
run(process.execPath, [path.join(import.meta.dirname, `${program}.mjs`), ...args], root);

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
}
