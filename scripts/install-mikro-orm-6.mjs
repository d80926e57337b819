// Installs MikroORM 6 into compat/mikro-orm-6, unless what its lock file asks for is there already.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '..', 'compat', 'mikro-orm-6');

if (!isInstalled()) {
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

function isInstalled() {
  const installed = packages('node_modules/.package-lock.json');
  const wanted = Object.entries(packages('package-lock.json') ?? {});

  return (
    installed !== undefined &&
    wanted.every(([name, { version, optional }]) => !name || optional || installed[name]?.version === version)
  );
}

function packages(lockFile) {
  const file = path.join(folder, lockFile);

  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).packages : undefined;
}
