// What would be published: its files, its exports (publint) and its types for every kind of importer (attw).
import fs from 'node:fs';
import path from 'node:path';
import { inTemporaryFolder, pack, report, root, run } from './run.mjs';

const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));

await inTemporaryFolder(folder => {
  const { tarball, files } = pack(folder);

  report('package', [
    ...filesProblems(files),
    ...attempt(() => run('publint', ['run', tarball, '--strict'])),
    ...attempt(() => run('attw', [tarball, '--profile', 'node16', '--format', 'ascii', '--no-emoji'])),
  ]);
});

function filesProblems(files) {
  const promised = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', ...exported(manifest.exports)];
  const missing = promised.filter(file => !files.includes(file)).map(file => `missing from the package: ${file}`);
  const foreign = files
    .filter(file => !promised.includes(file) && !file.startsWith('dist/'))
    .map(file => `should not be in the package: ${file}`);

  return [...missing, ...foreign];
}

function exported(target) {
  return typeof target === 'string' ? [path.normalize(target)] : Object.values(target).flatMap(exported);
}

function attempt(check) {
  try {
    check();
    return [];
  } catch (error) {
    return [error.message];
  }
}
