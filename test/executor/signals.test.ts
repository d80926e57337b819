import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { spawnNode, type Child } from '../support/child.ts';
import { dbNameOf, forEachDriver } from '../support/orm.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work' });

forEachDriver(driver => {
  let world: World;

  beforeEach(async () => {
    world = await World.open(driver, { file: true });
    await world.jobs.submit(work.create({}, { id: 'a' }));
  });
  afterEach(() => world.close());

  test('SIGTERM lets the running handler end, and every executor stop; then the process exits with 143', async () => {
    const child = await program('graceful');

    child.process.kill('SIGTERM');
    await child.line('stopping');
    child.process.stdin!.write('finish\n');

    expect(await child.exited).toEqual({ code: 143, signal: null });
    expect(await world.job('a')).toMatchObject({ state: 'succeeded' });
    expect(said(child, 'executor_stopped')).toBe(2);
    expect(said(child, 'aborted')).toBe(0);
  });

  test('a handler that ignores everything holds it up no longer than the stop allows, and its job is recovered', async () => {
    const child = await program('deaf');

    child.process.kill('SIGINT');

    expect(await child.exited).toEqual({ code: 130, signal: null });
    expect(await world.job('a')).toMatchObject({ state: 'interrupted', failureReason: 'shutdown' });
    expect(said(child, 'aborted')).toBe(1);
  });

  test('a second signal does not wait: what ran is left to recovery', async () => {
    const child = await program('impatient');

    child.process.kill('SIGTERM');
    await child.line('stopping');
    child.process.kill('SIGINT');

    expect(await child.exited).toEqual({ code: 130, signal: null });
    expect(await world.job('a')).toMatchObject({ state: 'running' });
    await world.executor([world.jobs.handler(work, () => {})]).start();
    expect(await world.job('a')).toMatchObject({ state: 'interrupted', failureReason: 'instance_restart' });
  });

  test('where the host listens too, it decides how the process ends', async () => {
    const child = await program('host');

    child.process.kill('SIGTERM');
    await child.line('stopping');
    child.process.stdin!.write('finish\n');

    expect(await child.exited).toEqual({ code: 7, signal: null });
    expect(said(child, 'closed by the host')).toBe(1);
    expect(await world.job('a')).toMatchObject({ state: 'succeeded' });
  });

  if (driver === 'sqlite') {
    test('once it is taken back, a signal does what it did before', async () => {
      const child = await program('taken back');

      child.process.kill('SIGTERM');

      expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' });
    });
  }

  async function program(mode: string): Promise<Child> {
    const child = spawnNode('test/executor/programs/stop-on-signals.ts', [driver, dbNameOf(world.orm), mode]);
    await Promise.all([child.line('ready'), child.line('began')]);

    return child;
  }
});

describe('stopOnSignals', () => {
  test('listens only when it is asked, once a signal for all executors, and until the last of them takes it back', async () => {
    const world = await World.open('sqlite');
    const [one, two] = [executorOf(world), executorOf(world)];
    const before = listeners();
    await one.start();
    expect(listeners()).toEqual(before);

    const ends = [one.stopOnSignals(['SIGUSR2', 'SIGUSR2']), two.stopOnSignals(['SIGUSR2'])];
    expect(listeners()).toEqual([before[0], before[1], before[2]! + 1]);
    ends[0]!();
    ends[0]!();
    expect(listeners()).toEqual([before[0], before[1], before[2]! + 1]);
    ends[1]!();
    expect(listeners()).toEqual(before);

    one.stopOnSignals()();
    expect(listeners()).toEqual(before);
    await world.close();
  });

  test.each([[[]], ['SIGTERM'], [['SIGNONE']], [['SIGKILL']], [['toString']]])('refuses %j', async signals => {
    const world = await World.open('sqlite');

    expect(() => executorOf(world).stopOnSignals(signals as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', option: 'signals' }),
    );
    await world.close();
  });
});

function executorOf(world: World) {
  return world.executor([world.jobs.handler(work, () => {})]);
}

function listeners(): number[] {
  return ['SIGTERM', 'SIGINT', 'SIGUSR2'].map(signal => process.listenerCount(signal));
}

function said(child: Child, line: string): number {
  return child.stdout().split('\n').filter(each => each === line).length;
} // prettier-ignore
