// Installs the packed library into throw-away host applications (test/hosts), type-checks them and runs their tests.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { inTemporaryFolder, pack, report, root, run } from './run.mjs';

const six = path.join(root, 'compat/mikro-orm-6');
const jest = path.join(root, 'node_modules/jest/bin/jest.js');

const hosts = [
  {
    name: 'mikro6-cjs-jest',
    packagesOf: six,
    tools: ['@types/node', '@types/jest', '@swc/jest', '@swc/core'],
    node: systemNode(), // the library and MikroORM 6 run on Node 20, so where the system has that, it is used
    tsc: 'node_modules/typescript/bin/tsc', // its own, of the 5 line
    steps: [[jest, '--config', 'jest.config.js'], ['one-copy.cjs']],
  },
  {
    name: 'mikro7-esm',
    packagesOf: root,
    tools: ['@types/node'],
    node: process.execPath,
    tsc: path.join(root, 'node_modules/typescript/bin/tsc'),
    steps: [['--disable-warning=ExperimentalWarning', '--test', 'orders.test.ts']],
  },
];

run('node', ['scripts/install-mikro-orm-6.mjs']);

await inTemporaryFolder(async folder => {
  const { tarball } = pack(folder);

  report(
    `${hosts.length} host applications`,
    hosts.flatMap(host => check(host, path.join(folder, host.name), tarball)),
  );
});

function check(host, folder, tarball) {
  try {
    create(host, folder, tarball);
    typeCheck(host, folder);
    for (const step of host.steps) run(host.node, step, { cwd: folder, env: hostEnv() });
    return [];
  } catch (error) {
    return [`${host.name}: ${error.message}`];
  }
}

function create({ name, packagesOf, tools }, folder, tarball) {
  fs.cpSync(path.join(root, 'test/hosts', name), folder, { recursive: true });
  const { dependencies } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  copyPackages(packagesOf, Object.keys(dependencies), folder);

  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: folder, env: hostEnv() });
  refuseASecondCore(folder);

  for (const tool of tools) linkPackage(tool, folder);
}

/** MikroORM is copied from where it is installed already, with all that it needs: SQLite is compiled once. */
function copyPackages(from, names, to) {
  const { packages } = JSON.parse(fs.readFileSync(path.join(from, 'package-lock.json'), 'utf8'));
  const found = new Set();
  const wanted = names.map(name => ['', name]);

  for (const [importer, name] of wanted) {
    const location = locate(packages, importer, name);
    if (!location || found.has(location)) continue;

    found.add(location);
    const { dependencies, optionalDependencies } = packages[location];
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) wanted.push([location, next]);
  }

  for (const location of found) {
    const source = path.join(from, location);
    if (fs.existsSync(source)) fs.cpSync(source, path.join(to, location), { recursive: true });
  }
}

function locate(packages, importer, name) {
  const candidate = path.posix.join(importer, 'node_modules', name);
  if (packages[candidate]) return candidate;

  return importer === ''
    ? undefined
    : locate(packages, importer.replace(/(^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, ''), name);
}

/** Declarations are checked, too (no skipLibCheck); what MikroORM's own say against each other is not ours. */
function typeCheck({ node, tsc }, folder) {
  const { status, stdout, stderr } = spawnSync(node, [tsc, '-p', '.', '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const errors = stdout.split('\n').filter(line => /error TS\d+/.test(line));
  const ours = errors.filter(line => !line.startsWith('node_modules/@mikro-orm/'));
  const hasCrashed = status !== 0 && errors.length === 0;

  if (ours.length > 0 || hasCrashed) throw new Error(`the type check failed\n${ours.join('\n')}${stderr}`);
}

/** The library has to use the host's MikroORM, not bring its own. */
function refuseASecondCore(folder) {
  const library = path.join(folder, 'node_modules/mikro-orm-jobs');
  if (fs.lstatSync(library).isSymbolicLink()) throw new Error('the library is linked, not installed');
  if (fs.existsSync(path.join(library, 'node_modules/@mikro-orm'))) throw new Error('a second MikroORM was installed');
}

function linkPackage(name, folder) {
  const link = path.join(folder, 'node_modules', name);

  fs.mkdirSync(path.dirname(link), { recursive: true });
  fs.symlinkSync(path.join(root, 'node_modules', name), link);
}

/** Without what npm and the surrounding test run put into the environment. */
function hostEnv() {
  const own = ([name]) => !/^(npm_(?!config_)|NODE_OPTIONS$|MIKRO_ORM_|TEST_)/.test(name);

  return Object.fromEntries(Object.entries(process.env).filter(own));
}

function systemNode() {
  const folders = process.env.PATH.split(path.delimiter).filter(folder => !folder.includes('node_modules'));
  const { status, stdout } = spawnSync('node', ['-p', 'process.execPath'], {
    env: { ...process.env, PATH: folders.join(path.delimiter) },
    encoding: 'utf8',
  });

  return status === 0 ? stdout.trim() : process.execPath;
}
