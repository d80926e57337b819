import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as rules from './rules.ts';
import type { Manifest, Rule } from './rules.ts';
import { readTree } from './source-tree.ts';

const root = path.join(import.meta.dirname, '../..');
const tree = readTree(root, ['src', 'migrations']);
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;

test('the sources are where this test looks', () => {
  expect([...tree.keys()]).toEqual(expect.arrayContaining(['src/index.ts', 'src/jobs.ts', 'migrations/index.ts']));
  expect(tree.size).toBeGreaterThan(100);
});

type Files = Readonly<Record<string, string>>;
interface Case {
  readonly title: string;
  readonly rule: Rule;
  /** A tree that breaks the rule, beside what doesn't, and what is said about it. */
  readonly broken: Files;
  readonly said: readonly string[];
}

const cases: readonly Case[] = [
  {
    title: 'every file belongs to a layer',
    rule: rules.everyFileHasALayer,
    broken: { 'src/core/a.ts': '', 'src/helpers/a.ts': '', 'src/other.ts': '' },
    said: ['src/helpers/a.ts belongs to no layer', 'src/other.ts belongs to no layer'],
  },
  {
    title: 'imports point one way, types too',
    rule: rules.importsPointOneWay,
    broken: {
      'src/core/a.ts': `import type { B } from '../entities/b.ts';\nimport './c.ts';`,
      'src/core/c.ts': '',
      'src/core/deep/d.ts': `import { a } from '../a.ts';\nexport type { E } from '../../executor/e.ts';`,
      'src/entities/b.ts': `import '../core/a.ts';\nimport '../adapter/sql/x.ts';`,
      'src/adapter/sql/x.ts': `import '../../core/a.ts';\nimport '../../entities/b.ts';\nvoid import('../../executor/e.ts');`,
      'src/executor/e.ts': `import '../core/a.ts';\ntype X = import('../adapter/sql/x.ts').X;`,
      'src/unit-of-work/u.ts': `import '../core/a.ts';\nimport '../entities/b.ts';\nimport x = require('../adapter/sql/x.ts');`,
      'src/jobs.ts': `import './core/a.ts';\nimport './adapter/sql/x.ts';\nimport './index.ts';`,
      'src/index.ts': `export { Jobs } from './jobs.ts';\nexport { x } from './adapter/sql/x.ts';`,
      'src/adapter/y.ts': `import { Jobs } from '../jobs.ts';`,
      'src/memory/m.ts': `import '../core/a.ts';\nimport '../executor/e.ts';\nimport './memory-jobs.ts';`,
      'src/memory/memory-jobs.ts': `import '../executor/e.ts';\nimport './m.ts';\nimport '../adapter/y.ts';`,
      'src/memory/index.ts': `export { m } from './m.ts';\nexport { n } from './memory-jobs.ts';`,
      'src/conformance/f.ts': `import '../core/a.ts';\nimport '../memory/m.ts';`,
      'migrations/m.ts': `import '../src/core/a.ts';\nimport '../src/jobs.ts';`,
    },
    said: [
      'src/core/a.ts imports ../entities/b.ts: core may not import entities',
      'src/core/deep/d.ts imports ../../executor/e.ts: core may not import executor',
      'src/entities/b.ts imports ../adapter/sql/x.ts: entities may not import adapter',
      'src/adapter/sql/x.ts imports ../../executor/e.ts: adapter may not import executor',
      'src/executor/e.ts imports ../adapter/sql/x.ts: executor may not import adapter',
      'src/unit-of-work/u.ts imports ../adapter/sql/x.ts: unit of work may not import adapter',
      'src/jobs.ts imports ./index.ts: jobs may not import index',
      'src/index.ts imports ./adapter/sql/x.ts: index may not import adapter',
      'src/adapter/y.ts imports ../jobs.ts: adapter may not import jobs',
      'src/memory/m.ts imports ../executor/e.ts: memory may not import executor',
      'src/memory/m.ts imports ./memory-jobs.ts: memory may not import memory jobs',
      'src/memory/memory-jobs.ts imports ../adapter/y.ts: memory jobs may not import adapter',
      'src/conformance/f.ts imports ../memory/m.ts: conformance may not import memory',
      'migrations/m.ts imports ../src/jobs.ts: migrations may not import jobs',
    ],
  },
  {
    title: 'every import is of a source file',
    rule: rules.importsExist,
    broken: { 'src/core/a.ts': `import './b.ts';\nimport './c.ts';\nimport '../../test/d.ts';`, 'src/core/b.ts': '' },
    said: [
      'src/core/a.ts imports ./c.ts, which is no source file',
      'src/core/a.ts imports ../../test/d.ts, which is no source file',
    ],
  },
  {
    title: 'a layer imports the packages that are listed for it, and no others',
    rule: rules.packagesAreListed,
    broken: {
      'src/core/a.ts': `import { hash } from 'node:crypto';\nimport type { EntityManager } from '@mikro-orm/core';`,
      'src/executor/e.ts': `void import('@mikro-orm/core');\nimport 'node:fs';`,
      'src/jobs.ts': `import type { EntityManager } from '@mikro-orm/core';\nimport { MikroORM } from '@mikro-orm/core';`,
      'src/index.ts': `export * from '@mikro-orm/core';`,
      'src/adapter/a.ts': `import { v4 } from 'uuid';\nimport { SqlEntityManager } from '@mikro-orm/sql';\nvoid import('pg');`,
    },
    said: [
      'src/core/a.ts imports @mikro-orm/core: not a package of core',
      'src/executor/e.ts imports @mikro-orm/core: not a package of executor',
      'src/executor/e.ts imports node:fs: not a package of executor',
      'src/jobs.ts imports @mikro-orm/core: not a package of jobs',
      'src/index.ts imports @mikro-orm/core: not a package of index',
      'src/adapter/a.ts imports @mikro-orm/sql: not a package of adapter',
      'src/adapter/a.ts imports pg: not a package of adapter',
    ],
  },
  {
    title: 'every package comes with ours, or is a peer of it',
    rule: rules.packagesAreInstalledWithUs,
    broken: {
      'src/core/a.ts': `import 'node:os';\nimport { v7 } from 'uuid';\nimport { z } from 'zod';`,
      'src/adapter/a.ts': `import '@mikro-orm/core/file';\nimport '@mikro-orm/sqlite';`,
    },
    said: [
      `src/core/a.ts imports zod, which users don't have`,
      `src/adapter/a.ts imports @mikro-orm/sqlite, which users don't have`,
    ],
  },
  {
    title: 'time is an argument or a Clock',
    rule: rules.timeIsHandedIn,
    broken: {
      'src/core/clock.ts': 'Date.now()',
      'src/core/a.ts': '// Date.now()\nnew Date(5);\nconst text = "Date.now()";\nconst now = Date.now();',
      'src/adapter/sql/b.ts': 'const f = Date.now;\nconst g = new Date;',
      'src/executor/c.ts': 'new Date();\nperformance.now();',
      'src/unit-of-work/d.ts': 'f({ at: new Date() });',
      'src/entities/e.ts': 'new Date()',
    },
    said: [
      'src/core/a.ts:4 reads the time: Date.now',
      'src/adapter/sql/b.ts:1 reads the time: Date.now',
      'src/adapter/sql/b.ts:2 reads the time: new Date',
      'src/executor/c.ts:1 reads the time: new Date()',
      'src/executor/c.ts:2 reads the time: performance.now',
      'src/unit-of-work/d.ts:1 reads the time: new Date()',
    ],
  },
  {
    title: 'chance is an argument; only jobs.ts and memory-jobs.ts hand it in',
    rule: rules.chanceIsHandedIn,
    broken: {
      'src/jobs.ts': 'const random = Math.random;',
      'src/memory/memory-jobs.ts': 'const random = Math.random;',
      'src/memory/a.ts': 'Math.random()',
      'src/core/a.ts': '/** such as `Math.random()` */\nMath.floor(5 * Math.random());',
      'migrations/m.ts': 'const random = Math.random;',
    },
    said: [
      'src/memory/a.ts:1 takes its own chances: Math.random',
      'src/core/a.ts:2 takes its own chances: Math.random',
      'migrations/m.ts:1 takes its own chances: Math.random',
    ],
  },
  {
    title: 'what is exported has its name written out',
    rule: rules.nothingIsExportedUnnamed,
    broken: {
      'src/index.ts': `export * from './jobs.ts';\nexport { a } from './core/a.ts';\nexport * as b from './core/b.ts';`,
      'src/core/a.ts': `export const a = 1;\nexport type * from './b.ts';`,
    },
    said: [
      `src/index.ts:1 exports without names: export * from './jobs.ts';`,
      `src/index.ts:3 exports without names: export * as b from './core/b.ts';`,
      `src/core/a.ts:2 exports without names: export type * from './b.ts';`,
    ],
  },
  {
    title: 'the public list is a list, and nothing else',
    rule: rules.theIndexOnlyExports,
    broken: {
      'src/index.ts': `export { a } from './core/a.ts';\nimport './jobs.ts';\nexport const b = 1;\nexport { b };`,
      'src/entities/index.ts': 'export const jobEntities = [];',
    },
    said: [
      `src/index.ts:2 is more than an export: import './jobs.ts';`,
      'src/index.ts:3 is more than an export: export const b = 1;',
      'src/index.ts:4 is more than an export: export { b };',
    ],
  },
  {
    title: 'no file is longer than 300 lines',
    rule: rules.filesAreShort,
    broken: { 'src/core/a.ts': 'a;\n'.repeat(300), 'src/core/b.ts': 'b;\n'.repeat(301) },
    said: ['src/core/b.ts has 301 lines, 300 at the most'],
  },
  {
    title: 'files are named in kebab case',
    rule: rules.filesAreNamedInKebabCase,
    broken: { 'src/core/a-b.ts': '', 'src/entities/a.entity.ts': '', 'src/core/aB.ts': '', 'src/core/a_b.ts': '' },
    said: ['src/core/aB.ts', 'src/core/a_b.ts'],
  },
  {
    title: 'a layer that no longer imports a package has none listed',
    rule: rules.listedPackagesAreUsed,
    broken: {
      ...Object.fromEntries(tree),
      'src/core/schedule.ts': '',
      'src/jobs.ts': `import 'node:timers/promises';`,
    },
    said: ['src/core/ imports no croner', 'src/jobs.ts imports no @mikro-orm/core'],
  },
];

describe.each(cases)('$title', ({ rule, broken, said }) => {
  test('here', () => {
    expect(rule(tree, manifest)).toEqual([]);
  });

  test('and this test would see it', () => {
    expect(rule(new Map(Object.entries(broken)), manifest)).toEqual(said);
  });
});

test('every rule is one of these', () => {
  const known: unknown[] = cases.map(({ rule }) => rule);

  expect(Object.entries(rules).filter(([, rule]) => !known.includes(rule))).toEqual([]);
});
