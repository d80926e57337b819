// What the check scripts share.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const root = path.join(import.meta.dirname, '..');

/** Runs a command and returns its stdout; throws with everything that it wrote when it fails. */
export function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...options,
  });

  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed (${status})\n${stdout}${stderr}`);

  return stdout;
}

/** Calls `use` with a temporary folder that is gone afterwards. */
export async function inTemporaryFolder(use) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-check-'));

  try {
    return await use(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Packs what would be published into `folder`, from a fresh build, and returns the tarball's path. */
export function pack(folder) {
  run('npm', ['run', '--silent', 'build']);
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]));

  return { tarball: path.join(folder, packed.filename), files: packed.files.map(file => file.path) };
}

/** The end of every check script: says what is wrong and fails, or says that all is well. */
export function report(title, problems) {
  for (const problem of problems) console.error(problem);
  console.log(problems.length === 0 ? `${title}: ok` : `${title}: ${problems.length} problem(s)`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
