/** What a layer is made of, and what its files may import besides each other. Types count as imports, too. */
export interface Layer {
  readonly name: string;
  /** A folder, or one file. */
  readonly path: string;
  /** Other layers. */
  readonly layers: readonly string[];
  /** Packages and modules of Node; `type` in front: its types only. */
  readonly packages: readonly string[];
}

/**
 * core ← entities ← adapter; core ← executor; core, entities ← unit of work; `jobs.ts` wires them, and only the index imports it.
 * core ← memory, which `memory-jobs.ts` wires; core ← conformance; core, executor ← testing. A file's layer is
 * the one whose path fits best.
 */
export const layers: readonly Layer[] = [
  {
    name: 'core',
    path: 'src/core/',
    layers: [],
    packages: ['croner', 'node:crypto', 'node:os', 'node:timers/promises', 'node:util', 'uuid'],
  },
  {
    name: 'entities',
    path: 'src/entities/',
    layers: ['core'],
    packages: ['@mikro-orm/core'],
  },
  {
    name: 'adapter',
    path: 'src/adapter/',
    layers: ['core', 'entities'],
    packages: ['@mikro-orm/core', 'node:async_hooks', 'node:crypto', 'node:timers/promises', 'uuid'],
  },
  {
    // never sees an EntityManager
    name: 'executor',
    path: 'src/executor/',
    layers: ['core'],
    packages: ['node:async_hooks', 'node:crypto', 'node:os'],
  },
  {
    name: 'unit of work',
    path: 'src/unit-of-work/',
    layers: ['core', 'entities'],
    packages: ['@mikro-orm/core', 'node:async_hooks', 'node:crypto'],
  },
  {
    name: 'memory',
    path: 'src/memory/',
    layers: ['core'],
    packages: ['uuid'],
  },
  {
    name: 'conformance',
    path: 'src/conformance/',
    layers: ['core'],
    packages: ['node:assert/strict', 'node:util'],
  },
  {
    // sees no EntityManager either: jobs lend it what it works on
    name: 'testing',
    path: 'src/testing/',
    layers: ['core', 'executor'],
    packages: ['node:crypto', 'node:os'],
  },
  {
    // the composition root of jobs in memory
    name: 'memory jobs',
    path: 'src/memory/memory-jobs.ts',
    layers: ['core', 'executor', 'memory'],
    packages: [],
  },
  {
    name: 'memory index',
    path: 'src/memory/index.ts',
    layers: ['memory', 'memory jobs'],
    packages: [],
  },
  {
    // the composition root
    name: 'jobs',
    path: 'src/jobs.ts',
    layers: ['core', 'adapter', 'executor', 'unit of work', 'jobs options'],
    packages: ['type @mikro-orm/core', 'node:timers/promises'],
  },
  {
    name: 'jobs options',
    path: 'src/jobs-options.ts',
    layers: ['core', 'unit of work'],
    packages: ['type @mikro-orm/core'],
  },
  {
    name: 'index',
    path: 'src/index.ts',
    layers: ['core', 'entities', 'executor', 'unit of work', 'jobs', 'jobs options'],
    packages: [],
  },
  {
    name: 'migrations',
    path: 'migrations/',
    layers: ['core'],
    packages: ['type @mikro-orm/core', '@mikro-orm/migrations'],
  },
];
