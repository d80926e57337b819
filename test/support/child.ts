import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { patienceMs } from './until.ts';

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly process: ChildProcess;
  readonly exited: Promise<ChildExit>;
  /** What it has written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The first line of stdout that holds `text`. Rejects, with what was written, if the child doesn't write one in time, or exits. */
  line(text: string): Promise<string>;
  kill(signal?: NodeJS.Signals): Promise<ChildExit>;
}

/** Runs a .ts program in a process of its own, under the MikroORM major of this test run. */
export function spawnNode(
  script: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string | undefined>> = {},
): Child {
  const child = spawn(process.execPath, [...nodeFlags(), path.resolve(root, script), ...args], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: undefined, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';

  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const exited = new Promise<ChildExit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });

  return {
    process: child,
    exited,
    stdout: () => stdout,
    stderr: () => stderr,
    line: text =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = stdout
            .split('\n')
            .slice(0, -1)
            .find(line => line.includes(text));
          if (found !== undefined) {
            clearTimeout(impatient);
            resolve(found);
          }
        };

        const fail = (how: string) => reject(new Error(`child ${how} without "${text}"\n${stdout}\n${stderr}`));
        const impatient = setTimeout(() => fail('went on'), patienceMs);

        look();
        child.stdout.on('data', look);
        exited.then(({ code, signal }) => {
          clearTimeout(impatient);
          look();
          fail(`ended (${signal ?? code})`);
        }, reject);
      }),
    kill: (signal = 'SIGKILL') => {
      child.kill(signal);
      return exited;
    },
  };
}

const root = fileURLToPath(new URL('../../', import.meta.url));

function nodeFlags(): string[] {
  const hooks = ['die-with-parent.mjs', ...(process.env.MIKRO_ORM_MAJOR === '6' ? ['mikro-orm-6-hooks.mjs'] : [])];

  return [
    '--disable-warning=ExperimentalWarning',
    ...hooks.flatMap(hook => ['--import', pathToFileURL(path.join(root, 'test/support', hook)).href]),
  ];
}
