import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { defineJob } from '../../src/core/definition.ts';
import { spawnNode, type Child } from '../support/child.ts';
import { dbNameOf, forEachDriver } from '../support/orm.ts';
import { useSeveral } from './support/several.ts';
import { eventually } from './support/wait.ts';

const work = defineJob<{ key: string; hangs: boolean }>()({ name: 'work', onInterrupt: 'requeue' });

forEachDriver(driver => {
  const { hosts } = useSeveral(driver, 1, { clock: systemClock });
  let folder: string;
  let children: Child[];
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-once-'));
    children = [];
  });
  afterEach(async () => {
    await Promise.all(children.map(child => child.kill()));
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const effects = () => (fs.existsSync(file()) ? fs.readFileSync(file(), 'utf8').trim().split('\n') : []);
  const file = () => path.join(folder, 'effects');
  const worker = async (name: string) => {
    const child = spawnNode('test/engine/programs/once-worker.ts', [driver, dbNameOf(hosts[0]!.orm), name, file()]);
    children.push(child);
    await child.line('started');
    return child;
  };
  const submit = (count: number, payload: { key: string; hangs: boolean }) =>
    hosts[0]!.jobs.submit(Array.from({ length: count }, () => work.create(payload)));
  const all = async () => (await hosts[0]!.jobs.admin.list({}, { limit: 100 })).jobs;
  const results = async () => (await all()).map(({ state, resultRef }) => [state, resultRef]);
  const untilAllSucceeded = () => eventually(async () => (await results()).every(([state]) => state === 'succeeded'));

  test('many jobs in several processes do their work once under one key, and all get its result', async () => {
    await Promise.all(['one', 'two', 'three'].map(worker));
    for (const key of ['a', 'b', 'c']) await submit(10, { key, hangs: false });

    await untilAllSucceeded();

    const by = new Map(effects().map(line => [line.split(' ')[1], line.split(' ')[2]]));
    expect([...by.keys()].sort()).toEqual(['a', 'b', 'c']);
    expect(effects().sort()).toEqual(
      [...by].flatMap(([key, name]) => [`began ${key} ${name}`, `ended ${key} ${name}`]).sort(),
    );
    expect((await results()).map(([, by]) => by).sort()).toEqual(
      [...by.values()].flatMap(name => Array(10).fill(name)).sort(),
    );
  });

  test('what a killed process was at work at is done by another, once, while a third waits for it', async () => {
    const doomed = await worker('doomed');
    await submit(1, { key: 'a', hangs: true });
    await doomed.line('hangs');
    await worker('heir');
    await submit(3, { key: 'a', hangs: false });
    await eventually(
      async () => (await all()).filter(job => job.state === 'queued' && job.attemptCount > 0).length === 3,
    );
    expect(effects()).toEqual(['began a doomed']);

    await doomed.kill();
    await untilAllSucceeded();

    expect(effects()).toEqual(['began a doomed', 'began a heir', 'ended a heir']);
    expect(await results()).toEqual(Array(4).fill(['succeeded', 'heir']));
  });
});
