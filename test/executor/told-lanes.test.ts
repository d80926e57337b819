import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '../../src/core/clock.ts';
import { defineJob } from '../../src/core/definition.ts';
import type { ClaimRequest } from '../../src/core/store.ts';
import type { Micros } from '../../src/core/time.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { turns } from './support/latch.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work' });
const foreign = defineJob<object>()({ name: 'foreign' });

forEachDriver(driver => {
  let world: World;
  let lanes: Array<ClaimRequest['lanes']>;
  let ran: string[];
  let setBackBy: number;
  let stoodStillAt: Micros | null;
  let answered: number;

  beforeEach(async () => {
    lanes = [];
    ran = [];
    setBackBy = 0;
    stoodStillAt = null;
    world = await World.open(driver, { clock: { now: () => stoodStillAt ?? systemClock.now() - setBackBy } });
    answered = 0;
    // What the tests wait for would come with the next poll in a day.
    const executor = world.executor(
      [world.jobs.handler(work, async job => void ran.push(job.id))],
      { pollInterval: '1d', queues: ['default', 'urgent'] },
      { claim: (call, request) => (lanes.push(request.lanes), call().finally(() => answered++)) },
    );
    await executor.start();
    // It rests when it has the answer: what is told before is looked for everywhere.
    await until(() => answered === 1);
    await turns(50);
  });
  afterEach(() => world.close());

  test('an executor that rests claims what was committed in its process where it is told, and rests on', async () => {
    await world.jobs.submit([work.create({}, { id: 'a' }), work.create({}, { id: 'b' })]);
    await until(() => ran.length === 2);
    await turns(200);

    expect(lanes).toEqual([undefined, [{ queue: 'default', name: 'work', version: '1', priority: 0, count: 2 }]]);
  });

  test('jobs of several lanes begin by priority', async () => {
    await world.jobs.submit([
      work.create({}, { id: 'low', priority: -1 }),
      work.create({}, { id: 'high', priority: 5, queue: 'urgent' }),
      work.create({}, { id: 'normal' }),
    ]);
    await until(() => ran.length === 3);

    expect(ran).toEqual(['high', 'normal', 'low']);
    expect(lanes.at(-1)).toHaveLength(3);
  });

  test('what it has no handler for, or no queue of, costs no claim', async () => {
    await world.jobs.submit(foreign.create({}));
    await world.jobs.submit(work.create({}, { queue: 'elsewhere' }));
    await turns(200);

    expect(lanes).toEqual([undefined]);
  });

  test('a due time that it knew of is not forgotten over it', async () => {
    stoodStillAt = systemClock.now();
    await world.jobs.submit(work.create({}, { id: 'later', notBefore: new Date(stoodStillAt / 1000 + 1000) }));
    await until(() => answered >= 2);
    await turns(50);
    await world.jobs.submit(work.create({}, { id: 'now' }));
    await until(() => ran.length === 1);
    expect(ran).toEqual(['now']);

    stoodStillAt = null;
    await until(() => ran.length === 2);
    expect(ran).toEqual(['now', 'later']);
  });

  test('after the clock was set back it looks after all, instead of resting until it is again what it was', async () => {
    await world.jobs.submit(work.create({}));
    await until(() => ran.length === 1);
    expect(lanes.at(-1)).toHaveLength(1);

    setBackBy = 3_600_000_000;
    lanes.length = 0;
    await world.jobs.submit(work.create({}));
    await until(() => ran.length === 2);

    expect(lanes.length).toBeGreaterThan(0);
    expect(lanes[0]).toBeUndefined();
  });

  test('below a cap it looks after all', async () => {
    await world.jobs.queues.limit('default', 1);

    await world.jobs.submit([work.create({}, { id: 'a' }), work.create({}, { id: 'b' })]);

    await until(() => ran.length === 2);
    expect(ran).toEqual(['a', 'b']);
  });
});
