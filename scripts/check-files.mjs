// No tracked file names a package registry's host or a path of somebody's machine.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { report, root, run } from './run.mjs';

const registry = new URL(run('npm', ['config', 'get', 'registry']).trim()).host;
const machinePaths = [root, os.homedir()].filter(folder => folder.split('/').length > 2);
const forbidden = [
  [registry, 'the registry of this machine'],
  [/\bregistry\.[a-z0-9.-]+\.[a-z]{2,}\b/i, 'a registry host'],
  [/\b(?:npmjs|yarnpkg|jfrog|verdaccio)\.[a-z]{2,}\b/i, 'a registry host'],
  [/"resolved":/, 'a registry address', file => file.endsWith('package-lock.json')],
  ...machinePaths.map(folder => [folder, 'a path of this machine']),
  [/(?:^|[\s"'`(=:])\/(?:home|Users)\/[\w.-]+\//, 'a path of a machine'],
  [/\b[A-Z]:\\Users\\/, 'a path of a machine'],
];

const self = path.relative(root, import.meta.filename);
const tracked = run('git', ['ls-files', '-z'])
  .split('\0')
  .filter(file => file && file !== self);
const problems = tracked.filter(file => fs.existsSync(path.join(root, file))).flatMap(problemsOf);

report(`${tracked.length} tracked files`, problems);

function problemsOf(file) {
  const rules = forbidden.filter(([, , applies = () => true]) => applies(file));
  const lines = fs.readFileSync(path.join(root, file), 'utf8').split('\n');

  return lines.flatMap((line, index) =>
    rules
      .filter(([pattern]) => (typeof pattern === 'string' ? line.includes(pattern) : pattern.test(line)))
      .map(([, meaning]) => `${file}:${index + 1}: ${meaning}: ${line.trim().slice(0, 160)}`),
  );
}
